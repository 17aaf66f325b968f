package import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension POSIXError {
    /// The error of the last system call.
    package static var current: POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }

    /// The system's words for this error, as in `Permission denied`.
    package var reason: String {
        String(cString: strerror(code.rawValue))
    }
}
