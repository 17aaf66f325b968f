import Foundation

/// The kind of thing that a path leads to.
enum FileKind {
    case missing
    case regular
    case folder
    /// A pipe, a socket or a device, of which opening may wait for ever.
    case other

    /// Looks at a path, and follows links.
    init(_ path: String) {
        let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        switch (try? FileManager.default.attributesOfItem(atPath: resolved))?[.type] as? FileAttributeType {
        case nil: self = .missing
        case .typeRegular: self = .regular
        case .typeDirectory: self = .folder
        case .some: self = .other
        }
    }
}
