// What the snippets for SwiftUI and UIKit need of the two, which not every system has. Only compiled.

import Foundation

// MARK: SwiftUI

protocol View {
    associatedtype Body: View
    @MainActor @ViewBuilder var body: Body { get }
}

extension View {
    func task(_ action: @escaping @MainActor () async -> Void) -> some View { ProgressView() }
    func task(id: Int, _ action: @escaping @MainActor () async -> Void) -> some View { ProgressView() }
}

extension Never: View {
    var body: Never { self }
}

struct ProgressView: View {
    init() {}
    init(_ progress: Progress) {}
    var body: Never { fatalError("only compiled") }
}

struct Group<Content: View>: View {
    init(@ViewBuilder content: () -> Content) {}
    var body: Never { fatalError("only compiled") }
}

@resultBuilder
enum ViewBuilder {
    static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    static func buildEither(first: some View) -> ProgressView { ProgressView() }
    static func buildEither(second: some View) -> ProgressView { ProgressView() }
}

@propertyWrapper
struct State<Value> {
    init(wrappedValue: Value) {}
    var wrappedValue: Value {
        get { fatalError("only compiled") }
        nonmutating set {}
    }
}

// MARK: UIKit

@MainActor
class UIResponder {}

@MainActor
protocol UIWindowSceneDelegate {}

@MainActor
class UIViewController {}

@MainActor
class UIWindow {
    var rootViewController: UIViewController?
}

@MainActor
class UIScene {
    class ConnectionOptions {}
}

@MainActor
class UISceneSession {}

// MARK: The app's own screens

struct LibraryView: View {
    var body: Never { fatalError("only compiled") }
}

struct RecoveryView: View {
    init(_ error: any Error, retry: @escaping () -> Void) {}
    var body: Never { fatalError("only compiled") }
}

final class ProgressViewController: UIViewController {}
final class LibraryViewController: UIViewController {}
final class RecoveryViewController: UIViewController {
    init(_ error: any Error) {}
}
