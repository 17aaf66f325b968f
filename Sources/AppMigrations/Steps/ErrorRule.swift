/// The rule for a step that throws.
///
/// ```swift
/// manager.whenMigratingToVersion("1.2", onError: .giveUp(after: 5)) { try importBookmarks() }
/// ```
public enum ErrorRule: Sendable, Hashable {
    /// The manager stops and `migrate()` throws. The next launch retries the step. The default.
    case stop
    /// The step is best-effort: later steps run anyway, and later launches retry it. The manager counts the
    /// errors in its record, and settles the step as skipped after this many; 1 or less means after the first.
    case giveUp(after: Int)
}
