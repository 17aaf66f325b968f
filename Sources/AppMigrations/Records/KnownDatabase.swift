import Foundation
import MigrationDiagnostics

/// A database in which a manager has completed a launch, as its record in the store lists it.
package struct KnownDatabase: Equatable, Sendable {
    /// Identifies the database, wherever it lies.
    package let id: String
    /// Where it was, as ``Foundation/URL/pathInInstall`` has it.
    package let path: String

    package init(id: String, path: String) {
        self.id = id
        self.path = path
    }
}

extension KnownDatabase {
    init(_ field: JSONField) throws {
        self.init(id: try field.field("id").text(), path: try field.field("path").text())
    }

    /// Returns the fields of the entry, among those of an older one that this version does not know.
    func json(replacing old: [String: JSONValue]) -> [String: JSONValue] {
        old.merging(["id": .string(id), "path": .string(path)]) { $1 }
    }
}

extension [KnownDatabase] {
    /// Adds databases, in the place of others that were at their paths.
    mutating func note(_ databases: [KnownDatabase]) {
        removeAll { known in databases.contains { $0.id == known.id || $0.path == known.path } }
        append(contentsOf: databases)
        sort { ($0.path, $0.id) < ($1.path, $1.id) }
    }
}

extension URL {
    /// The path without what changes between two installs of an app, or on its update: the folder that is the app's home, and
    /// the containers of Apple's systems, whose names are random.
    ///
    /// In another container than the app's own, the path begins with its kind, `AppGroup` for instance.
    package var pathInInstall: String {
        var components = standardizedFileURL.pathComponents
        let containers: Set = ["Application", "AppGroup", "PluginKitPlugin"]
        let random = components.indices.last { index in
            index > 0 && containers.contains(components[index - 1])
                && UUID(uuidString: components[index]) != nil
        }
        let home = URL(fileURLWithPath: NSHomeDirectory()).standardizedFileURL.pathComponents
        if let random {
            let kind = components[random - 1]
            components.removeFirst(random + 1)
            if kind != "Application" { components.insert(kind, at: 0) }
            return components.joined(separator: "/")
        }
        guard components.starts(with: home), home.count > 1 else { return path }
        return components.dropFirst(home.count).joined(separator: "/")
    }
}
