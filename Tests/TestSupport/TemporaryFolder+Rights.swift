import Foundation

extension TemporaryFolder {
    /// Runs a body, which calls the system on this thread alone, without root's right to every file.
    ///
    /// The folder and its files belong to the user whose rights the body has.
    public func withoutRoot<Result>(_ body: () throws -> Result) throws -> Result {
        #if os(Linux)
            if geteuid() == 0 {
                // setfsuid(2) takes root's rights to files from the calling thread alone. Swift's module lacks it.
                typealias SetFSUID = @convention(c) (uid_t) -> Int32
                guard let symbol = dlsym(nil, "setfsuid") else { throw POSIXError(.ENOSYS) }
                let setfsuid = unsafeBitCast(symbol, to: SetFSUID.self)
                let somebody: uid_t = 65_534
                for path in try [url.path] + fileNames.map({ file($0).path }) {
                    guard chown(path, somebody, gid_t.max) == 0 else { throw POSIXError(.EPERM) }
                }
                _ = setfsuid(somebody)
                defer { _ = setfsuid(0) }
                return try body()
            }
        #endif
        return try body()
    }
}
