import Foundation
import TestTraits
import Testing

/// The folders of the two core libraries, in order: a file names types of its own folder, and of those before it.
private let rooms = [
    "AppMigrations": [
        "Versions", "Work", "Errors", "Records", "Stores", "Reports", "Steps", "Planning", "Running",
        "Manager",
    ],
    "SchemaMigrations": [
        "Database", "SQL", "Migrations", "Ledger", "Store", "Inspection", "Redefinition", "Backup",
        "Planning", "Running", "Migrator", "Steps",
    ],
]

/// The modules, each with those of the package that it may import.
private let modules: [(folder: String, name: String, imports: Set<String>)] = {
    let core: Set = ["AppMigrations", "CMigrationSQLite", "CMigrationSystem", "MigrationDiagnostics"]
    return [
        ("Sources", "MigrationDiagnostics", []),
        ("Sources", "AppMigrations", ["CMigrationSystem", "MigrationDiagnostics"]),
        ("Sources", "SchemaMigrations", core),
        ("Sources", "DatabaseBatches", core.union(["SchemaMigrations"])),
        ("Sources", "DatabaseFiles", core.union(["GRDBMigrations", "SchemaMigrations"])),
        ("Sources", "GRDBMigrations", core.union(["SchemaMigrations"])),
        ("Sources", "MigrationEmbedding", ["MigrationDiagnostics"]),
    ]
}()

/// All modules of the package whose names code may import.
private let ownModules: Set = [
    "AppMigrations", "CMigrationSQLite", "CMigrationSystem", "DatabaseBatches", "DatabaseFiles",
    "GRDBMigrations", "MigrationDiagnostics", "MigrationEmbedding", "MigrationTesting", "MigrationTools",
    "SchemaMigrations", "TextOutput",
]

@Suite("The direction of arrows", .timed)
struct ArrowTests {
    @Test("leads from each folder to those before it", arguments: rooms.keys.sorted())
    func order(name: String) throws {
        let wrong = try SourceModule(name).wrongArrows(rooms[name] ?? [])
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
    }

    @Test("makes no circle of more than eight files", arguments: modules.map(\.name))
    func circles(name: String) throws {
        let circle = try SourceModule(name).largestCircle
        #expect(circle.count <= 8, "\(circle.joined(separator: "\n"))")
    }

    @Test("is that of the modules, too", arguments: modules.map(\.name))
    func imports(name: String) throws {
        let (folder, _, allowed) = try #require(modules.first { $0.name == name })
        let wrong = try SourceModule(name, in: folder).files.flatMap { file in
            file.imported.intersection(ownModules).subtracting(allowed).map {
                "\(name)/\(file.path) imports \($0)"
            }
        }
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
    }

    @Test("is seen, and a file that breaks it is named")
    func breach() {
        let low = SourceFile(
            path: "Low/Floor.swift",
            code: "import Foundation\n\nstruct Floor {\n    let roof: Roof? // not: Wall\n}\n")
        let high = SourceFile(
            path: "High/Roof.swift",
            code:
                "/// A ``Wall``.\npublic final class Roof {\n    let text = \"Wall\"\n    let floor: [Floor] = []\n}\n"
        )
        let wall = SourceFile(
            path: "High/Wall.swift", code: "enum Wall { struct Door {} }\nprivate struct Floor {}\n")
        let module = SourceModule("House", [low, high, wall])

        #expect(
            module.wrongArrows(["Low", "High"]) == ["House/Low/Floor.swift names Roof of High/Roof.swift"])
        #expect(module.largestCircle == ["High/Roof.swift", "Low/Floor.swift"])
        #expect(low.imported == ["Foundation"])
        #expect(module.wrongArrows(["High"]).contains("House/Low/Floor.swift is in none of the rooms High"))
    }

    @Test(
        "of the tests is that of the sources: a folder has the name of a folder",
        arguments: rooms.keys.sorted())
    func mirror(name: String) throws {
        let tests = try SourceModule("\(name)Tests", in: "Tests").files
        let folders = Set(tests.compactMap(\.room)).subtracting(["Support"])
        #expect(folders.subtracting(rooms[name] ?? []).isEmpty)
    }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
