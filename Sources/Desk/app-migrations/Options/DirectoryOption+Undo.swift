import AppMigrations
import GRDB
import MigrationDiagnostics
import SchemaMigrations

extension DirectoryOption {
    /// Runs a body, and names `--undo-unknown` in its error if that can undo the migrations that the folder lacks.
    func suggestingUndo<Result>(in database: DatabaseQueue, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as MigrationError where error.code == .newerThanThisProcess {
            let undoing = try migrator(options: SchemaOptions(newerDatabases: .rollBack))
            guard (try? database.read { try undoing.pending($0) }) != nil else { throw error }
            var diagnostic = error.diagnostic
            diagnostic.remedy = """
                Undo them with `app-migrations migrate --undo-unknown`, which loses rows that only they can hold, or put their \
                files back. Nothing was changed.
                """
            throw Failure(diagnostic)
        }
    }
}
