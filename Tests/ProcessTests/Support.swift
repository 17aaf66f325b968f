import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

/// Where a test's steps are remembered.
enum Place: String, CaseIterable, CustomTestStringConvertible {
    case json = "in a JSON file"
    case sqlite = "in a SQLite database"
    case own = "in the database that they work in"

    var testDescription: String { rawValue }

    /// A step as the Launcher's arguments have it.
    func step(_ version: String, _ actions: String = "") -> String {
        let words = (self == .own ? "in" : "") + (self == .own && !actions.isEmpty ? "," : "") + actions
        return words.isEmpty ? version : "\(version):\(words)"
    }
}

/// The installs of one app, launched in processes of their own.
struct Install {
    let folder: TemporaryFolder
    let place: Place

    /// Makes an install that was launched in version 1.0.
    init(_ place: Place) async throws {
        folder = try TemporaryFolder()
        self.place = place
        let first = try await launch("1.0", [place.step("1.0")])
        guard first.output == "launch freshInstall\ncompleted []\n" else { throw Unexpected(first) }
        if place == .own { try createEffects() }
    }

    init(in folder: TemporaryFolder, _ place: Place) {
        self.folder = folder
        self.place = place
    }

    func start(_ version: String, _ steps: [String], _ options: [String] = []) throws -> BuiltProcess {
        let store = place == .sqlite ? "sqlite" : "json"
        return try BuiltProcess(
            "Launcher", ["--folder", folder.url.path, "--store", store, "--as", version] + options + steps)
    }

    @discardableResult
    func launch(_ version: String, _ steps: [String], _ options: [String] = []) async throws
        -> BuiltProcess.Result
    {
        try await start(version, steps, options).result()
    }

    /// Launches a version whose step dies, and tells by which signal.
    func signal(_ version: String, _ steps: [String], _ options: [String] = []) async throws -> Int32? {
        try await launch(version, steps, options).signal
    }

    /// The steps that have begun, with their attempts.
    var effects: [String] { folder.lines("effects") }

    private var database: DatabaseQueue {
        get throws { try DatabaseQueue(path: folder.file("library.sqlite").path) }
    }

    func createEffects() throws {
        try database.write { try $0.execute(sql: "CREATE TABLE effect(version TEXT NOT NULL)") }
    }

    /// The work that steps have done in their database.
    func rows() throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT version FROM effect ORDER BY rowid") }
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ result: BuiltProcess.Result) { description = result.output + result.errors }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
