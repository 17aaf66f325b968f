import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import TestSupport

/// One database that is damaged, salvaged, judged and launched with.
struct SalvageTrial {
    let seed: UInt64
    let template: SalvageTemplate
    let kind: SalvageKind
    private let folder: URL
    private var file: URL { folder.appendingPathComponent("app.sqlite") }
    private var scratch: URL { folder.appendingPathComponent("scratch.sqlite") }

    init(seed: UInt64, _ template: SalvageTemplate, in folder: URL) {
        (self.seed, self.template) = (seed, template)
        self.folder = folder.appendingPathComponent("\(seed)")
        kind = SalvageKind.all[Int(seed % UInt64(SalvageKind.all.count))]
    }

    func run() throws -> SalvageVerdict {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = RandomNumbers(seed: seed, subject: "trial")
        var input = try kind.scene.make(from: template, in: folder, &random)
        input.damage(kind.page, template, &random)
        try input.files.write(to: file)
        let look = try SQLiteLook(
            at: input.files, template.tables, at: input.version, scratch: scratch)
        var verdict = SalvageVerdict(seed: seed, kind: kind, shape: "\(template.shape)")
        // SQLite takes an empty file for a new database, and removes its log.
        let isIntact = look.isIntact && !input.files.main.isEmpty
        if !isIntact {
            verdict.recovered = try RecoverShell.current?.recover(input, template.tables, scratch: scratch)
        }
        try salvage(
            SalvageJudge(
                input: input, template: template, file: file, isIntact: isIntact,
                mayBeIntact: look.hasNullsOnly),
            &verdict)
        if !verdict.faults.isEmpty { try keep(input.files) }
        return verdict
    }

    /// Keeps the damaged files for who looks for the cause, in the folder that the environment names.
    private func keep(_ files: SalvageFiles) throws {
        guard let folder = ProcessInfo.processInfo.environment["SALVAGE_FILES"] else { return }
        try files.write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(seed).sqlite"))
    }

    private func salvage(_ judge: SalvageJudge, _ verdict: inout SalvageVerdict) throws {
        let migrator = try template.schema.migrator(template.shape.migrations)
        let before = try folderContents()
        do {
            let report = try migrator.salvage(DatabaseFile(path: file.path))
            // Salvaging leaves this to the launch.
            let queue = try SalvageConnection.open(file)
            defer { try? queue.close() }
            try migrator.migrate(queue, upTo: SalvageSchema.latest)
            try queue.close()
            let rows = try judge.judge(report, migrator, &verdict)
            guard !judge.input.isNewer, !judge.isIntact else { return }
            SalvageLaunch(template: template, file: file, folder: folder, rows: rows)
                .run(isRecordWhole: judge.input.isWhole("app_migrations"), &verdict)
        } catch let error as MigrationError {
            judge.judge(error, &verdict)
            if try folderContents() != before { verdict.add(.changedFile, "\(error)") }
        }
    }

    /// Every file but the locks, byte for byte.
    private func folderContents() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return Dictionary(
            uniqueKeysWithValues: try names.filter { !$0.hasSuffix(".lock") }.map {
                ($0, try Data(contentsOf: folder.appendingPathComponent($0)))
            })
    }
}
