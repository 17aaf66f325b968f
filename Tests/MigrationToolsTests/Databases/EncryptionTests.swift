import GRDB
import MigrationTools
import TestTraits
import Testing

@Suite("A passphrase", .timed)
struct EncryptionTests {
    @Test("may have a mark over a quotation mark, which SQLite reads as two characters")
    func combinedQuotationMark() throws {
        let queue = try DatabaseQueue(configuration: Encryption.configuration(passphrase: "it'\u{301}s"))
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }
}
