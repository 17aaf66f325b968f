import MigrationDiagnostics

extension FuzzTarget {
    /// Names of migration files, one to a line: each is a migration, none of our business, or a problem.
    static let fileNames = FuzzTarget(
        name: "file-names",
        seeds: [
            "1.sql\n20240601120000000_create_books.sql\n20240601120000000_create_books.down.sql",
            "007_a b-c_d.sql\n7.SQL\nREADME.md",
            "9_AddMoods.swift\n9223372036854775808_x.sql\n3_.sql\n4_x_.sql",
            "5_überfällig.sql\n６.sql\n1_\u{301}.sql\n2.down.sql", ".sql\n1.swift\n1_2x.swift\n1_a\u{0}.sql",
        ]
    ) { bytes in
        let names = bytes.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for name in names {
            guard let file = try? MigrationFileName(name) else { continue }
            let ending = file.kind == .up ? ".sql" : file.kind == .down ? ".down.sql" : ".swift"
            let stem = file.name.isEmpty ? "" : "_\(file.name)"
            let digits = String(name.prefix { $0.isASCII && $0.isNumber })
            try expect(Int64(digits) == file.version, "\(name.debugDescription) has version \(file.version)")
            try expect(
                digits + stem + ending == name, "\(name.debugDescription) is not \(digits)\(stem)\(ending)")
        }
        for languages in [MigrationFileSet.Languages.sql, .sqlAndSwift] {
            let set = MigrationFileSet(names: names, languages)
            let versions = set.entries.map(\.parsed.version)
            try expect(versions == versions.sorted(), "\(names) are not in order")
            try expect(
                Set(versions).count == versions.count || set.problems.contains { $0.kind == .doubleVersion },
                "\(names) have a version twice, and no problem")
        }
    }
}
