import AppMigrations
import Foundation

#if canImport(Darwin)
    import Darwin
#endif

/// How many processes and threads the system creates for this user.
struct ThreadLimit: Sendable {
    private let usual: rlim_t

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)
    #else
        private static let resource = RLIMIT_NPROC
    #endif

    /// Reads the limit.
    ///
    /// Becomes another user than root, whom the system does not limit.
    init() throws {
        if getuid() == 0, setuid(65_534) != 0 { throw POSIXError.current }
        var limit = rlimit()
        guard getrlimit(Self.resource, &limit) == 0 else { throw POSIXError.current }
        usual = limit.rlim_cur
    }

    /// Sets the limit; nil for the usual one.
    func set(_ count: rlim_t?) {
        var limit = rlimit()
        getrlimit(Self.resource, &limit)
        limit.rlim_cur = count ?? usual
        setrlimit(Self.resource, &limit)
    }
}
