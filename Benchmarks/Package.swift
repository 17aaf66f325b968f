// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let scheduler = Target.Dependency.product(name: "AppMigrations", package: "AppMigrations")
let schema = Target.Dependency.product(name: "SchemaMigrations", package: "AppMigrations")
let batches = Target.Dependency.product(name: "DatabaseBatches", package: "AppMigrations")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

/// An executable that is there to be weighed.
func linked(_ name: String, with dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: "linked-\(name)", dependencies: dependencies, path: "Sources/linked/\(name)",
        swiftSettings: settings)
}

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "AppMigrations", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "bench",
            dependencies: [
                scheduler, schema, batches, grdb,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        linked("foundation", with: []),
        linked("scheduler", with: [scheduler]),
        linked("grdb", with: [grdb]),
        linked("schema", with: [scheduler, schema, grdb]),
    ]
)
