extension MigrationError {
    /// The error for work in which the process has died too often.
    static func gaveUp(
        _ title: String, _ version: AppVersion, _ died: MigrationRecord.Running, manager: String
    ) -> MigrationError {
        let deaths = died.attempt - died.forgiven
        let times = deaths == 1 ? "once" : "\(deaths) times"
        let version = version.withoutBuild
        let call = died.work == .batch ? "runDeferred" : "migrate"
        // Without its schema an app cannot go on.
        let skipping = died.work == .move ? "" : "; skip(\"\(version)\") goes on without it"
        return MigrationError(
            .gaveUp, "\(title) was not retried: the process died in it \(times)",
            remedy:
                "A new build of the app retries it, as does \(call)(retrying: \"\(version)\")\(skipping).",
            manager: manager, version: version, attempt: died.attempt)
    }
}
