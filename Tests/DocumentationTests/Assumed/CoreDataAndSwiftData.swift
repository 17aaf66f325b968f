// What the snippets of CoreDataAndSwiftData.md assume, beside Assumed.swift. Only compiled, and private to them.

private final class NSPersistentContainer {
    init(name: String) {}
    func loadPersistentStores(completionHandler: @escaping (String, (any Error)?) -> Void) {}
}
private struct ModelContainer { init(for types: Any.Type..., migrationPlan: Any.Type) throws {} }
private enum Book {}
private enum LibraryMigrationPlan {}
private func deleteOldThumbnails() throws {}
private func loadStore() throws -> NSPersistentContainer { NSPersistentContainer(name: "Library") }

private final class NSManagedObject {
    func value(forKey key: String) -> Any? { nil }
    func setValue(_ value: Any?, forKey key: String) {}
}
private final class NSFetchRequest<Result> {
    init(entityName: String) {}
    var predicate: NSPredicate?
}
private struct NSPredicate { init(format: String, _ arguments: String...) {} }
private final class NSManagedObjectContext {
    func performAndWait<Value>(_ block: () throws -> Value) rethrows -> Value { try block() }
    func count<Result>(for request: NSFetchRequest<Result>) throws -> Int { 0 }
    func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] { [] }
    func save() throws {}
}
private enum NSEntityDescription {
    static func insertNewObject(forEntityName name: String, into: NSManagedObjectContext) -> NSManagedObject {
        NSManagedObject()
    }
}
extension NSPersistentContainer {
    fileprivate func newBackgroundContext() -> NSManagedObjectContext { NSManagedObjectContext() }
}
