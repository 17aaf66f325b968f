// swift-tools-version: 6.2
import PackageDescription

/// One list of settings, applied to every target.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // An app grows by a tenth less, and an idle launch takes 3 % longer.
    .unsafeFlags(["-Osize"], .when(configuration: .release)),
    // No copy of a function for each closure that it is given.
    .unsafeFlags(["-Xllvm", "-sil-disable-pass=closure-specialize"], .when(configuration: .release)),
    // A section for each function, so that the linker drops those that an app does not use, public ones included.
    .unsafeFlags(
        ["-Xfrontend", "-function-sections", "-Xfrontend", "-internalize-at-link"],
        .when(platforms: [.linux], configuration: .release)),
]

let package = Package(
    name: "AppMigrations",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "AppMigrations", targets: ["AppMigrations"]),
        .library(name: "SchemaMigrations", targets: ["SchemaMigrations"]),
        .library(name: "DatabaseBatches", targets: ["DatabaseBatches"]),
        .library(name: "DatabaseFiles", targets: ["DatabaseFiles"]),
        .library(name: "GRDBMigrations", targets: ["GRDBMigrations"]),
        .library(name: "MigrationTesting", targets: ["MigrationTesting"]),
        .executable(name: "app-migrations", targets: ["app-migrations"]),
        .plugin(name: "EmbedMigrations", targets: ["EmbedMigrations"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .target(name: "CMigrationSystem"),
        // Declares functions of SQLite; GRDB links the library that has them, which may be SQLCipher.
        .target(name: "CMigrationSQLite"),
        .target(name: "MigrationDiagnostics", swiftSettings: settings),
        .target(
            name: "AppMigrations",
            dependencies: ["CMigrationSystem", "MigrationDiagnostics"],
            resources: [
                .copy("Resources/PrivacyInfo.xcprivacy"), .embedInCode("Resources/AppMigrations.strings"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SchemaMigrations",
            dependencies: [
                "AppMigrations",
                "CMigrationSQLite",
                "CMigrationSystem",
                "MigrationDiagnostics",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            resources: [.copy("Resources/PrivacyInfo.xcprivacy")],
            swiftSettings: settings
        ),
        .target(
            name: "DatabaseBatches",
            dependencies: [
                "AppMigrations",
                "MigrationDiagnostics",
                "SchemaMigrations",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "DatabaseFiles",
            dependencies: [
                "AppMigrations",
                "CMigrationSQLite",
                "CMigrationSystem",
                "GRDBMigrations",
                "MigrationDiagnostics",
                "SchemaMigrations",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            resources: [.copy("Resources/PrivacyInfo.xcprivacy")],
            swiftSettings: settings
        ),
        .target(
            name: "GRDBMigrations",
            dependencies: [
                "AppMigrations",
                "CMigrationSQLite",
                "SchemaMigrations",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "MigrationTools",
            dependencies: [
                "AppMigrations",
                "CMigrationSQLite",
                "MigrationDiagnostics",
                "MigrationEmbedding",
                "SchemaMigrations",
                "TextOutput",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Sources/Desk/MigrationTools",
            swiftSettings: settings
        ),
        .target(name: "TextOutput", path: "Sources/Desk/TextOutput", swiftSettings: settings),
        .target(
            name: "MigrationTesting",
            dependencies: [
                "AppMigrations",
                "GRDBMigrations",
                "MigrationDiagnostics",
                "MigrationTools",
                "SchemaMigrations",
                "TextOutput",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "app-migrations",
            dependencies: [
                "AppMigrations",
                "GRDBMigrations",
                "MigrationDiagnostics",
                "MigrationTesting",
                "MigrationTools",
                "SchemaMigrations",
                "TextOutput",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Sources/Desk/app-migrations",
            swiftSettings: settings
        ),
        .target(
            name: "MigrationEmbedding", dependencies: ["MigrationDiagnostics"],
            swiftSettings: settings),
        .executableTarget(
            name: "embed-migrations", dependencies: ["MigrationDiagnostics", "MigrationEmbedding"],
            swiftSettings: settings),
        .plugin(name: "EmbedMigrations", capability: .buildTool(), dependencies: ["embed-migrations"]),
        .executableTarget(
            name: "Journal",
            dependencies: [
                "AppMigrations",
                "DatabaseBatches",
                "DatabaseFiles",
                "SchemaMigrations",
                "TextOutput",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Samples/Journal",
            exclude: ["Migrations/code.rules"],
            swiftSettings: settings,
            plugins: ["EmbedMigrations"]
        ),
        .executableTarget(
            name: "QuickStart",
            dependencies: [
                "GRDBMigrations",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Samples/QuickStart",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GettingStarted",
            dependencies: [
                "AppMigrations",
                "SchemaMigrations",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Samples/GettingStarted",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Accounts",
            dependencies: [
                "AppMigrations",
                "DatabaseFiles",
                "SchemaMigrations",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Samples/Accounts",
            swiftSettings: settings,
            plugins: ["EmbedMigrations"]
        ),
        .executableTarget(
            name: "EmbeddedSQL",
            dependencies: [
                "SchemaMigrations",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Samples/EmbeddedSQL",
            swiftSettings: settings,
            plugins: ["EmbedMigrations"]
        ),
        .target(
            name: "TestSupport", dependencies: ["AppMigrations", "MigrationDiagnostics"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(
            name: "TestTraits",
            dependencies: ["DatabaseBatches", "MigrationTools", "SchemaMigrations", "TestSupport"],
            path: "Tests/TestTraits",
            swiftSettings: settings),
        .executableTarget(
            name: "Launcher",
            dependencies: [
                "AppMigrations",
                "DatabaseBatches",
                "SchemaMigrations",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/Launcher",
            swiftSettings: settings
        ),
        .testTarget(
            name: "AppMigrationsTests",
            dependencies: [
                "AppMigrations", "MigrationDiagnostics", "MigrationTesting", "MigrationTools", "TestSupport",
                "TestTraits",
            ],
            swiftSettings: settings),
        // Isolated as Xcode isolates a new app: everything is on the main actor unless it says otherwise.
        .target(
            name: "DefaultIsolation",
            dependencies: [
                "AppMigrations", "SchemaMigrations", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/DefaultIsolation",
            swiftSettings: settings + [
                .defaultIsolation(MainActor.self), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]
        ),
        .testTarget(
            name: "SchemaMigrationsTests",
            dependencies: [
                "DatabaseBatches",
                "DatabaseFiles", "DefaultIsolation", "GRDBMigrations", "MigrationDiagnostics",
                "MigrationTesting",
                "MigrationTools",
                "SchemaMigrations",
                "TestSupport", "TestTraits",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DatabaseBatchesTests",
            dependencies: [
                "AppMigrations", "DatabaseBatches", "DatabaseFiles", "MigrationTesting", "SchemaMigrations",
                "TestSupport", "TestTraits",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "GRDBMigrationsTests",
            dependencies: [
                "AppMigrations", "GRDBMigrations", "MigrationTesting", "SchemaMigrations", "TestSupport",
                "TestTraits",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DatabaseFilesTests",
            dependencies: [
                "AppMigrations", "CMigrationSQLite", "DatabaseBatches", "DatabaseFiles", "GRDBMigrations",
                "MigrationTesting", "SchemaMigrations", "TestSupport", "TestTraits",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        // Two features at a time, by what happens to the data: Tests/Pairs.txt.
        .testTarget(
            name: "PairTests",
            dependencies: [
                "AppMigrations", "DatabaseBatches", "DatabaseFiles", "GRDBMigrations", "MigrationTesting",
                "SchemaMigrations", "TestSupport", "TestTraits",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MigrationToolsTests",
            dependencies: [
                "AppMigrations", "MigrationTools", "SchemaMigrations", "TestSupport", "TestTraits",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MigrationTestingTests",
            dependencies: [
                "AppMigrations", "DatabaseBatches", "DatabaseFiles", "GRDBMigrations", "MigrationTesting",
                "MigrationTools", "SchemaMigrations", "TestSupport",
                "TestTraits",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ToolTests",
            dependencies: [
                "AppMigrations", "DatabaseBatches", "app-migrations", "embed-migrations", "EmbeddedSQL",
                "FuzzTargets",
                "MigrationEmbedding",
                "MigrationTesting", "MigrationTools", "SchemaMigrations", "TestSupport", "TestTraits",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Help"],
            swiftSettings: settings),
        .testTarget(
            name: "ProcessTests",
            dependencies: [
                "AppMigrations", "Launcher", "SchemaMigrations", "TestSupport", "TestTraits",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .target(name: "Tracer", path: "Tests/Tracer"),
        .target(name: "DiskModel", path: "Tests/DiskModel", swiftSettings: settings),
        // Takes SQLite's own header: Scripts/with-sqlite.sh says where another one is.
        .target(name: "PlainSQLite", path: "Tests/PlainSQLite"),
        .executableTarget(
            name: "Workload",
            dependencies: [
                "AppMigrations",
                "DatabaseBatches",
                "DatabaseFiles",
                "DiskModel",
                "MigrationTesting",
                "MigrationTools",
                "PlainSQLite",
                "SchemaMigrations",
                "SmallWorlds",
                "TestSupport",
                "Tracer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/Workload",
            swiftSettings: settings
        ),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "AppMigrations", "DatabaseFiles", "MigrationDiagnostics", "MigrationEmbedding",
                "SchemaMigrations",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/FuzzTargets",
            swiftSettings: settings
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "AppMigrations", "DatabaseBatches", "DatabaseFiles", "GRDBMigrations", "MigrationTesting",
                "SchemaMigrations", "TestSupport",
                "TestTraits",
            ],
            exclude: ["Assumed"],
            swiftSettings: settings),
        // Which file may know which other one: reads the sources.
        .testTarget(
            name: "StructureTests", dependencies: ["TestTraits"], swiftSettings: settings),
        // What is promised, and the small apps and histories that try it: knows nothing of the package.
        .target(name: "SmallWorlds", path: "Tests/SmallWorlds", swiftSettings: settings),
        .target(
            name: "StressTesting",
            dependencies: [
                "AppMigrations", "DatabaseBatches", "DatabaseFiles", "FuzzTargets", "GRDBMigrations",
                "MigrationTesting", "MigrationTools",
                "SchemaMigrations",
                "SmallWorlds", "TestSupport", "Workload",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/StressTesting",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "stress",
            dependencies: [
                "StressTesting", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Stress",
            swiftSettings: settings
        ),
        // Tests that only `make test-crashes` builds and runs: SwiftPM makes one product of all test targets.
        .executableTarget(
            name: "CrashTests",
            dependencies: [
                "AppMigrations", "DiskModel", "MigrationTesting", "MigrationTools", "SmallWorlds",
                "StressTesting", "TestTraits",
            ],
            path: "Tests/CrashTests",
            swiftSettings: settings),
        .testTarget(
            name: "JournalTests",
            dependencies: [
                "Accounts", "AppMigrations", "GettingStarted", "Journal", "MigrationTesting", "QuickStart",
                "SchemaMigrations", "TestSupport", "TestTraits",
            ],
            swiftSettings: settings),
    ]
)

if Context.environment["ON_SIMULATOR"] != nil {
    // A simulator runs the tests of the libraries that apps link; the rest is for developers' computers.
    let onSimulator: Set = [
        "CMigrationSystem", "CMigrationSQLite", "MigrationDiagnostics", "AppMigrations",
        "MigrationEmbedding", "SchemaMigrations", "DatabaseBatches", "DatabaseFiles", "GRDBMigrations",
        "MigrationTools", "TextOutput", "MigrationTesting", "TestSupport", "TestTraits",
        "DefaultIsolation",
        "AppMigrationsTests", "SchemaMigrationsTests", "DatabaseBatchesTests", "DatabaseFilesTests",
        "GRDBMigrationsTests", "PairTests",
    ]
    package.targets.removeAll { !onSimulator.contains($0.name) }
    package.products.removeAll { ["app-migrations", "EmbedMigrations"].contains($0.name) }
}

#if !os(Linux)
    // What traces system calls is written for Linux, and so are the crash and fault tests, which need it.
    let onLinux: Set = [
        "CrashTests", "DiskModel", "PlainSQLite", "StressTesting", "Tracer", "Workload", "stress",
    ]
    package.targets.removeAll { onLinux.contains($0.name) }
#endif
