import AppMigrations
import MigrationDiagnostics
import TestTraits
import Testing

@testable import SchemaMigrations

@Suite("A migration's file name", .timed)
struct MigrationFileNameTests {
    @Test(
        "has a version, a name and a kind",
        arguments: [
            ("1.sql", 1, "", .up),
            ("0.sql", 0, "", .up),
            ("017_x.sql", 17, "x", .up),
            ("201406063106474_create_mb-demo-schema.sql", 201406063106474, "create_mb-demo-schema", .up),
            ("9999_ChangeTablesToNewFormat.sql", 9999, "ChangeTablesToNewFormat", .up),
            ("2014324_This is the Description.sql", 2_014_324, "This is the Description", .up),
            ("20240310_überfällig.sql", 20_240_310, "überfällig", .up),
            ("9223372036854775807_last.sql", Int64.max, "last", .up),
            ("00000000000000000000000000007_many.sql", 7, "many", .up),
            ("1.down.sql", 1, "", .down),
            ("017_x.down.sql", 17, "x", .down),
            ("017_AddMoods.swift", 17, "AddMoods", .code),
            ("1__Private2.swift", 1, "_Private2", .code),
        ] as [(String, Int64, String, MigrationFileName.Kind)])
    func valid(fileName: String, version: Int64, name: String, kind: MigrationFileName.Kind) throws {
        let parsed = try #require(try MigrationFileName(fileName))
        #expect(parsed.version == version)
        #expect(parsed.name == name)
        #expect(parsed.kind == kind)
    }

    @Test(
        "is ignored if it does not begin with a digit or end in .sql",
        arguments: [
            "", "README.md", "schema.sql", "_1.sql", " 1.sql", "-1.sql", ".sql", "._1_x.sql", "1", "1.txt",
            "1_x.sql.bak",
            "1_sql", "v1.sql", "١_x.sql", "²_x.sql",
        ])
    func ignored(fileName: String) throws {
        #expect(try MigrationFileName(fileName) == nil)
    }

    private static let remedy = """
        Name it <version>_<name>.sql, the version in digits, the name in letters, digits, spaces, _ and -. If it is \
        no migration, begin its name with something other than a digit.
        """

    @Test(
        "is refused if it is malformed",
        arguments: [
            ("1.SQL", "its extension is not written .sql"),
            ("1_x.Sql", "its extension is not written .sql"),
            ("9223372036854775808.sql", "its version is above 9223372036854775807"),
            ("99999999999999999999_x.down.sql", "its version is above 9223372036854775807"),
            ("1-x.sql", "only an _ and a name may follow the version"),
            ("1 x.sql", "only an _ and a name may follow the version"),
            ("1x.sql", "only an _ and a name may follow the version"),
            ("1.0_x.sql", "only an _ and a name may follow the version"),
            ("1..sql", "only an _ and a name may follow the version"),
            ("1_.sql", "its name is empty or ends with an _"),
            ("1_x_.sql", "its name is empty or ends with an _"),
            ("1_.down.sql", "its name is empty or ends with an _"),
            ("1_a.b.sql", "its name has a character that a name may not have"),
            ("1_a,b.sql", "its name has a character that a name may not have"),
            ("1_x.up.sql", "its name has a character that a name may not have"),
            ("1_x.down.down.sql", "its name has a character that a name may not have"),
        ])
    func malformed(fileName: String, problem: String) throws {
        let thrown = try #require(throws: MigrationFileProblem.self) { try MigrationFileName(fileName) }
        let error = MigrationError(thrown)
        #expect(error.code == .invalidMigration)
        #expect(error.file == fileName)
        #expect(error.description == "\(fileName): \(problem). \(Self.remedy)")
    }

    @Test(
        "of Swift code is refused if it cannot name a type",
        arguments: [
            ("1.swift", "only an _ and a name may follow the version"),
            ("1AddMoods.swift", "only an _ and a name may follow the version"),
            ("1_.swift", "\"\" cannot be the name of a type"),
            ("1_2.swift", "\"2\" cannot be the name of a type"),
            ("1_add moods.swift", "\"add moods\" cannot be the name of a type"),
            ("1_a.down.swift", "\"a.down\" cannot be the name of a type"),
            ("9223372036854775808_A.swift", "its version is above 9223372036854775807"),
        ])
    func malformedCode(fileName: String, problem: String) throws {
        let error = try #require(throws: MigrationFileProblem.self) { try MigrationFileName(fileName) }
        #expect(error.diagnostic.problem == problem)
        #expect(error.diagnostic.remedy.hasPrefix("Name it <version>_<TypeName>.swift, "))
    }
}
