import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// Measures what many small migrations cost, on disk.
    static let applyingFiles = [
        Benchmark(what: "apply small schema files") { effort, scratch in
            try effort.sizes([10, 100, 1000]).flatMap { count in
                try applying(
                    "apply small schema files", .schema(count: count),
                    faster: [10: 2.5, 100: 4, 1000: 2.5][count], within: 1.3, effort, scratch)
            }
        },
        Benchmark(what: "apply small data files") { effort, scratch in
            try effort.sizes([10, 100, 1000]).flatMap { count in
                try applying(
                    "apply small data files", .data(count: count),
                    faster: [10: 2.5, 100: 8, 1000: 10][count], within: count == 1000 ? 2 : 1.5, effort,
                    scratch)
            }
        },
        Benchmark(what: "verify the schema after migrating") { effort, scratch in
            try effort.sizes([10, 100, 1000]).flatMap { count in
                try verifying(.schema(count: count), effort, scratch)
            }
        },
    ]

    /// Compares a run that verifies the schema afterwards, which runs every file twice, with one that does not.
    private static func verifying(
        _ samples: SchemaSamples, _ effort: Effort, _ scratch: Scratch
    ) throws -> [TableRow] {
        let verified = try samples.migrator(options: SchemaOptions(differentSchemas: .refuse))
        let plain = try samples.migrator()
        return try Contest(
            what: "verify the schema after migrating", size: "\(samples.texts.count.grouped) files",
            ours: onNewQueue(scratch) { try verified.migrate($0) },
            others: [
                .init(
                    name: "migrating alone", goal: .within(3),
                    work: onNewQueue(scratch) { try plain.migrate($0) })
            ]
        ).rows(effort, seconds: 3)
    }

    private static func applying(
        _ what: String, _ samples: SchemaSamples, faster: Double?, within: Double?, _ effort: Effort,
        _ scratch: Scratch
    ) throws -> [TableRow] {
        let folder = try scratch.newFolder()
        try samples.write(to: folder)
        let texts = samples.texts
        let size = "\(texts.count.grouped) files"
        let embedded = onNewQueue(scratch) { try samples.migrator().migrate($0) }
        let fromFolder = onNewQueue(scratch) { try SchemaMigrator(directory: folder).migrate($0) }
        let grdb = onNewQueue(scratch) { try samples.grdbMigrator().migrate($0) }
        return try Contest(
            what: what + ", embedded", size: size, ours: embedded,
            others: [
                .init(name: "GRDB's migrator", goal: faster.map(Goal.faster), work: grdb),
                .init(
                    name: "the same SQL in one raw transaction", goal: within.map(Goal.within),
                    work: onNewRaw(scratch) { try $0.migrate(texts) }),
            ]
        ).rows(effort, seconds: 3)
            + Contest(
                what: what + ", from a folder", size: size, ours: fromFolder,
                others: [
                    .init(
                        name: "reading the files, and their SQL in one raw transaction", goal: nil,
                        work: onNewRaw(scratch) { raw in
                            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                            try raw.migrate(
                                names.sorted().map {
                                    try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
                                })
                        })
                ]
            ).rows(effort, seconds: 3)
    }

    private static func onNewQueue(
        _ scratch: Scratch, _ run: @escaping (DatabaseQueue) throws -> Void
    ) -> Contest.Work {
        var queue: DatabaseQueue?
        var file: URL?
        return .init(
            preparing: {
                try queue?.close()
                if let file { try FileManager.default.removeItem(at: file) }
                let new = scratch.new("new.sqlite")
                queue = try DatabaseQueue(path: new.path)
                file = new
            }, { if let queue { try run(queue) } })
    }

    private static func onNewRaw(
        _ scratch: Scratch, _ run: @escaping (RawSQLite) throws -> Void
    ) -> Contest.Work {
        var raw: RawSQLite?
        var file: URL?
        return .init(
            preparing: {
                raw = nil
                if let file { try FileManager.default.removeItem(at: file) }
                let new = scratch.new("new.sqlite")
                raw = try RawSQLite(new)
                file = new
            }, { if let raw { try run(raw) } })
    }
}
