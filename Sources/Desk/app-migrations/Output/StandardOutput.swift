#if canImport(Darwin)
    @preconcurrency import Darwin
#elseif canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#endif

/// The output of the process.
enum StandardOutput {
    /// Writes what is still in the buffer.
    ///
    /// - Throws: ``Failure``, if any of the output could not be written, as on a full disk.
    static func finish() throws {
        let isWritten = fflush(stdout) == 0
        let code = errno
        let reason = isWritten ? "it is incomplete" : String(cString: strerror(code))
        guard !isWritten || ferror(stdout) != 0 else { return }
        clearerr(stdout)
        throw Failure(
            "The output could not be written: \(reason)",
            remedy: (isWritten || code == ENOSPC || code == EDQUOT ? "Make room for it. " : "")
                + "The command has done its work; `app-migrations status` shows the result.")
    }
}
