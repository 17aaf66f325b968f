/// The version of a schema: an integer, preferably a timestamp in UTC, `yyyyMMddHHmmssSSS`.
public typealias SchemaVersion = Int64
