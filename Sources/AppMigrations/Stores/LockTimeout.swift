/// A lock was not released in time.
package struct LockTimeout: Error {
    package let holder: String
    package let limit: Duration
}
