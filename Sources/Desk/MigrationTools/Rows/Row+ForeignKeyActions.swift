import GRDB

extension Row {
    /// The actions of a foreign key in a row of `pragma_foreign_key_list`, such as `ON DELETE CASCADE`.
    var foreignKeyActions: [String] {
        [("DELETE", "on_delete"), ("UPDATE", "on_update")].map { (event: $0, action: self[$1] as String) }
            .filter { $0.action != "NO ACTION" }.map { "ON \($0.event) \($0.action)" }
    }
}
