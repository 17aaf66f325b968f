import AppMigrations
package import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// The migrations of a branch that others may have applied already.
package struct BranchMigrations: Sendable {
    /// The branch's name.
    package let name: String
    /// The files of the branch, by name.
    private let files: [String: Data]
    /// The files at the commit where the branch and the files of today part; nil if it is not known.
    private let shared: [String: Data]?

    /// Creates the migrations of a branch.
    package init(name: String, files: [String: Data], shared: [String: Data]?) {
        self.name = name
        self.files = files
        self.shared = shared
    }

    /// Returns what files change about the branch's migrations.
    ///
    /// A change that the branch made since the files parted from it is not theirs.
    ///
    /// - Parameters:
    ///   - current: the files of today, by name.
    ///   - configuration: how to open a database in which they run.
    func findings(in current: [String: Data], configuration: Configuration) -> [ReviewFinding] {
        let branch = migrations(in: files)
        let today = migrations(in: current)
        let before = shared.map(migrations)
        let first = today.keys.min().flatMap { today[$0] }
        let baseline = first.flatMap { Baseline(of: current[$0]) }
        var findings: [ReviewFinding] = []
        if let first, let baseline,
            branch.values.allSatisfy({ Baseline(of: files[$0])?.versions != baseline.versions })
        {
            findings += differences(of: first, replacing: baseline, current[first] ?? Data(), configuration)
        }
        for (version, file) in branch.sorted(by: { $0.key < $1.key }) {
            // The files that were squashed are not missed. A baseline that the branch has, too, may not be edited.
            if let baseline, baseline.versions.contains(version),
                Baseline(of: files[file])?.versions != baseline.versions
            {
                continue
            }
            let old = before?[version]
            guard let now = today[version] else {
                // It came to the branch after the files parted.
                if before != nil, old == nil { continue }
                findings.append(removal(of: file))
                continue
            }
            // The files have it as it was when they parted: the branch changed it since.
            if let old, old == now,
                edit(of: old, from: shared?[old] ?? Data(), to: current[now] ?? Data()) == nil
            {
                continue
            }
            if now != file {
                findings.append(
                    ReviewFinding(
                        file: now, line: 1, rule: .renamed,
                        reason: """
                            Version \(version) is called \(file) on \(name). Give the file that name back, or a version of its own.
                            """))
            } else if let mine = current[now], let theirs = files[file],
                let edit = edit(of: file, from: theirs, to: mine)
            {
                findings.append(
                    ReviewFinding(
                        file: now, line: 1, rule: .edited,
                        reason: """
                            \(edit) after it was merged into \(name): devices that have it never run the edit. Undo the \
                            edit, and write a new migration.
                            """))
            }
        }
        guard let newest = branch.keys.max(), let newestFile = branch[newest] else { return findings }
        for (version, file) in today.sorted(by: { $0.key < $1.key })
        where version < newest && branch[version] == nil && before?[version] == nil {
            findings.append(
                ReviewFinding(
                    file: file, line: 1, rule: .olderThanBranch,
                    reason: """
                        It is new, but older than \(newestFile), the newest migration on \(name): on devices that have that one, \
                        it runs out of order. Rename it to the present time.
                        """))
        }
        return findings
    }

    /// The files' names by version, without down migrations, which may change.
    private func migrations(in files: [String: Data]) -> [SchemaVersion: String] {
        Dictionary(
            MigrationFileSet(names: Array(files.keys), .sqlAndSwift).entries.map {
                ($0.parsed.version, $0.fileName)
            }, uniquingKeysWith: { first, _ in first })
    }

    private func removal(of file: String) -> ReviewFinding {
        ReviewFinding(
            file: file, line: 1, rule: .removed,
            reason: """
                It is on \(name), and missing here: devices that have it are at a version that no file has. Put it back, and \
                undo its change in a new migration.
                """)
    }

    /// Finds out whether a baseline that the branch does not have makes what the branch's files make.
    ///
    /// They may have been edited before they were squashed.
    private func differences(
        of file: String, replacing baseline: Baseline, _ contents: Data, _ configuration: Configuration
    ) -> [ReviewFinding] {
        // The files were squashed as they were when they parted from the branch.
        let known = migrations(in: files).merging(shared.map(migrations) ?? [:]) { $1 }
        let replaced = known.filter { baseline.versions.contains($0.key) }
        func old(_ file: String) -> Data? { shared?[file] ?? files[file] }
        func untried(_ problem: String) -> [ReviewFinding] {
            [
                ReviewFinding(
                    file: file, line: 1, rule: .untried,
                    reason: "It was not compared with the files on \(name) that it replaces: \(problem)")
            ]
        }
        let covered = replaced.reduce(into: Set(replaced.keys)) {
            $0.formUnion(Baseline(of: old($1.value))?.versions ?? [])
        }
        if let missing = baseline.versions.subtracting(covered).min() {
            return untried("\(missing) is not there.")
        }
        func made(_ files: [SchemaVersion: String], _ contents: (String) -> Data?) throws -> DatabaseContents
        {
            let migrations = files.map { version, name in
                SQLMigration(
                    version: version, name: "\(version)",
                    sql: String(decoding: contents(name) ?? Data(), as: UTF8.self))
            }
            let database = try configuration.scratchDatabase()
            defer { try? database.close() }
            try SchemaMigrator(migrations: migrations, options: .unobserved).migrate(database)
            return try database.writeWithoutTransaction(DatabaseContents.init)
        }
        do {
            guard let version = baseline.versions.max() else { return [] }
            let theirs = try made(replaced, old)
            let ours = try made([version: file]) { _ in contents }
            let differences = theirs.differences(from: ours, calling: "the files", "the baseline")
            guard !differences.isEmpty else { return [] }
            return [
                ReviewFinding(
                    file: file, line: 1, rule: .edited,
                    reason: """
                        It makes something else than the files on \(name) that it replaces: \(differences.joined(separator: "; ")). \
                        Squash those files, and write a new migration for the edit.
                        """)
            ]
        } catch {
            return untried((error as? MigrationError)?.diagnostic.sentence ?? "\(error)")
        }
    }

    /// Returns the edit that changes what a file does, in words; nil if there is none.
    ///
    /// White space and comments make no difference in SQL, but settings do. An app that knows the migration does not care whether it
    /// is compatible. Swift code may be edited, so that it compiles.
    private func edit(of file: String, from first: Data, to second: Data) -> String? {
        guard first != second, file.hasSuffix(".sql") else { return nil }
        guard let old = try? SQLScript(first, fileName: file),
            let new = try? SQLScript(second, fileName: file),
            old.checksum == new.checksum
        else { return "It was edited" }
        return old.settings.runsAlike(new.settings) ? nil : "Its settings were edited"
    }
}

extension SQLFileSettings {
    /// Returns whether statements do the same with other settings.
    fileprivate func runsAlike(_ other: SQLFileSettings) -> Bool {
        foreignKeys == other.foreignKeys && transaction == other.transaction && redefines == other.redefines
    }
}

extension Baseline {
    /// Reads the baseline of a file; nil if there is no file, or it has none.
    fileprivate init?(of contents: Data?) {
        guard let contents else { return nil }
        self.init(String(decoding: contents, as: UTF8.self))
    }
}
