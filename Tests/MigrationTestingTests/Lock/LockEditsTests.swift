import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import TestSupport
import TestTraits
import Testing

@Suite("Edits of an app's migrations", .timed)
struct LockEditsTests {
    /// An edit, by the migration whose behavior it changes.
    struct Edit: Sendable {
        let migration: String
        let change: @Sendable (inout Wallet) -> Void

        init(_ migration: String, _ change: @escaping @Sendable (inout Wallet) -> Void) {
            self.migration = migration
            self.change = change
        }
    }

    private static let edits = [
        Edit("create") { $0.tokenColumns += ", rank INTEGER" },
        Edit("create") {
            $0.tokenColumns = $0.tokenColumns.replacing("symbol TEXT NOT NULL", with: "symbol TEXT")
        },
        Edit("create") { $0.accountColumns = $0.accountColumns.replacing("DEFAULT 0", with: "DEFAULT 1") },
        Edit("firstTokens") { $0.firstTokens = ["BTC"] },
        Edit("firstTokens") { $0.firstTokens = ["ETH", "BTC"] },
        Edit("firstTokens") { $0.firstTokens[1] = "ETC" },
        Edit("indexTokens") { $0.index = "entry_token ON entry(token, day)" },
        Edit("indexTokens") { $0.index = "entry_token ON entry(token) WHERE token > 0" },
        Edit("trimNames") { $0.trim = { $0.lowercased() + " " } },
        Edit("trimNames") { $0.trim = { $0 } },
        Edit("trimNames") { $0.namedTokens = "name <> ''" },
        Edit("renameStablecoin") { $0.stablecoin = "symbol = 'USDC'" },
        Edit("renameStablecoin") { $0.stablecoin = "symbol LIKE 'DAI'" },
        Edit("renameStablecoin") { $0.stablecoin = "symbol = 'DAI' AND decimals = 18" },
        Edit("renameStablecoin") { wallet in
            wallet.stablecoin = "symbol = ?"
            wallet.stablecoinArguments = ["USDC"]
        },
        Edit("renameStablecoin") { $0.newSymbol = "xDAI" },
        Edit("decimals") { $0.decimals["BTC"] = 9 },
        Edit("decimals") { $0.decimals["EOS"] = 5 },
        Edit("decimals") { $0.decimals["ETH"] = 0 },
        Edit("decimals") { $0.usualDecimals = 6 },
        Edit("cents") { $0.cents = { Int($0) * 100 + 1 } },
        Edit("cents") { $0.cents = { Int($0 * 1_000) } },
        Edit("cents") { $0.centsOfNone = 0 },
        Edit("memos") { $0.memoNetworks = "network IN ('eos', 'xlm')" },
        Edit("memos") { $0.memoNetworks = "network IN ('eos')" },
        Edit("memos") { $0.memoNetwork = "xrp" },
        Edit("memos") { $0.memoNetwork = "EOS" },
        Edit("memos") { $0.memo = 2 },
        Edit("memos") { $0.otherMemo = 3 },
        Edit("splitNotes") { $0.separator = "-" },
        Edit("splitNotes") { $0.isBodyKept = false },
        Edit("years") { $0.days = { $0 } },
        Edit("years") { $0.days = { $0 - 1900 } },
        Edit("clean") { $0.clean = $0.clean.replacing("2000-01-01", with: "2001-01-01") },
        Edit("clean") { $0.clean = $0.clean.replacing("AND", with: "OR") },
        Edit("colors") { $0.colorKey = "colour" },
        Edit("states") { $0.statesByKind["closed"] = 3 },
        Edit("states") { $0.statesByKind = ["open": 2, "closed": 1] },
        Edit("states") { $0.statesRebuild += " WHERE id > 0" },
        Edit("counts") { $0.countedOffset = 1 },
        Edit("counts") {
            $0.countedEntries = $0.countedEntries.replacing("GROUP", with: "WHERE token > 0 GROUP")
        },
        Edit("keys") { $0.keyPrefix = "entry-" },
        Edit("keys") { $0.key = { "\($0)" } },
        Edit("shout") { $0.shout = { $0.capitalized } },
        Edit("shout") { $0.isShouted = false },
    ]

    private let lock: MigrationLock
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        lock = MigrationLock(at: folder.file("Migrations.lock"))
        try lock.record(Wallet().migrator)
    }

    /// The lines about each migration.
    private func lines() throws -> [String: Substring] {
        let text = try String(contentsOf: lock.url, encoding: .utf8)
        let parts = text.components(separatedBy: "\n\n").dropFirst().map {
            $0.split(separator: "\n", maxSplits: 1)
        }
        return Dictionary(parts.map { (String($0[0]), $0.count > 1 ? $0[1] : "") }, uniquingKeysWith: { $1 })
    }

    @Test("are found, and the lock says beforehand which may not be")
    func edits() throws {
        try lock.verify(Wallet().migrator)
        let lines = try lines()
        #expect(Self.edits.count >= 40)
        var missed = 0
        for (number, edit) in Array(Self.edits.enumerated()).sampled(oneIn: 16) {
            var wallet = Wallet()
            edit.change(&wallet)
            do {
                try lock.verify(wallet.migrator)
                missed += 1
                #expect(lines[edit.migration]?.contains("  unprotected: ") == true, "edit \(number)")
            } catch let error as MigrationError {
                let start = "Migrations.lock: \(edit.migration) does something else"
                #expect(error.description.hasPrefix(start), "edit \(number): \(error)")
                let texts = { (prefix: String) in
                    Set(
                        error.description.split(separator: "\n").map { $0.trimmingPrefix("  ") }
                            .filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) })
                }
                #expect(texts("was: ").isDisjoint(with: texts("now: ")), "edit \(number): \(error)")
            }
        }
        #expect(missed <= 2)
    }
}
