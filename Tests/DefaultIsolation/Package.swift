// swift-tools-version: 6.2
import PackageDescription

// An app whose code is on the main actor unless it says otherwise, as Xcode makes them. A package of its own,
// because it needs newer tools than the root package; CompileTests checks its source in every run of the tests.
let package = Package(
    name: "DefaultIsolation",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "AppMigrations", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(
            name: "Library",
            dependencies: [
                .product(name: "AppMigrations", package: "AppMigrations"),
                .product(name: "SchemaMigrations", package: "AppMigrations"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [.defaultIsolation(MainActor.self)]
        )
    ]
)
