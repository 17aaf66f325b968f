// What the snippets of MovingACoreDataStore.md assume, beside Assumed.swift. Only compiled, and private to them.

private let oldStore = url
private let newStore = url
private final class NSManagedObjectModel {}
private var model: NSManagedObjectModel { NSManagedObjectModel() }
private final class NSPersistentStoreCoordinator {
    enum StoreType { case sqlite }
    init(managedObjectModel: NSManagedObjectModel) {}
    func replacePersistentStore(at: URL, withPersistentStoreFrom: URL, type: StoreType) throws {}
}
private final class NSPersistentContainer {}
private func loadStore(at url: URL) throws -> NSPersistentContainer { NSPersistentContainer() }
