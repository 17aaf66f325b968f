import Foundation

/// A file that stands in for the keychain, which not every system has.
///
/// Like the keychain, it outlives the app's data.
struct Keychain {
    let url: URL

    var password: String? { try? String(contentsOf: url, encoding: .utf8) }

    func save(_ password: String) throws { try Data(password.utf8).write(to: url) }

    func removeAll() throws {
        if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
    }
}
