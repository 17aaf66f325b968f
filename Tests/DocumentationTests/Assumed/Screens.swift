// What the snippets for SwiftUI and UIKit need of the two, which not every system has. Only compiled.

import Foundation
import GRDB

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

struct VStack<Content: View>: View {
    init(@ViewBuilder content: () -> Content) {}
    var body: Never { fatalError("only compiled") }
}

struct OptionalView<Content: View>: View {
    var body: Never { fatalError("only compiled") }
}

struct Text: View {
    init(_ text: String) {}
    var body: Never { fatalError("only compiled") }
}

struct Button: View {
    init(_ title: String, action: @escaping () -> Void) {}
    var body: Never { fatalError("only compiled") }
}

@resultBuilder
enum ViewBuilder {
    static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    static func buildBlock(_ first: some View, _ second: some View, _ third: some View) -> ProgressView {
        ProgressView()
    }
    static func buildEither(first: some View) -> ProgressView { ProgressView() }
    static func buildEither(second: some View) -> ProgressView { ProgressView() }
    static func buildOptional<Content: View>(_ content: Content?) -> OptionalView<Content> { OptionalView() }
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
class UIResponder {
    init() {}
}

@MainActor
protocol UIWindowSceneDelegate {}

@MainActor
class UIViewController {
    init() {}
}

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
    init(_ dbQueue: DatabaseQueue) {}
    var body: Never { fatalError("only compiled") }
}

final class ProgressViewController: UIViewController {}
final class LibraryViewController: UIViewController {}
final class RecoveryViewController: UIViewController {
    init(_ error: any Error) { super.init() }
}
