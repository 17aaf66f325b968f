import Foundation
import GRDB
import SchemaMigrations

/// Migrates a database in a process of its own, for tests: `SchemaLauncher <migrations> <database> queue|pool <start>`.
///
/// It says that it is ready, waits for the file `start`, and prints the versions that it has applied, or the error.
@main
struct SchemaLauncher {
    static func main() throws {
        let arguments = CommandLine.arguments
        let schema = try SchemaMigrator(
            directory: URL(fileURLWithPath: arguments[1]), options: SchemaOptions(busyTimeout: .seconds(600)))
        try Data().write(to: URL(fileURLWithPath: "\(arguments[4]).\(getpid())"))
        while !FileManager.default.fileExists(atPath: arguments[4]) { usleep(200) }
        do {
            let database: any DatabaseWriter =
                arguments[3] == "pool"
                ? try DatabasePool.opening(path: arguments[2], waitingFor: .seconds(600))
                : try DatabaseQueue.opening(path: arguments[2], waitingFor: .seconds(600))
            print(try schema.migrate(database).applied)
        } catch {
            print("\(error)")
            exit(1)
        }
    }
}
