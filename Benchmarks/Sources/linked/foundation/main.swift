import Foundation

// The least: what any app links.
print(Date().timeIntervalSince1970 > 0, FileManager.default.temporaryDirectory.path.isEmpty)
