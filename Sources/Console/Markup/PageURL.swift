import Foundation

/// The path and the query of a page of the console.
struct PageURL: Hashable, Sendable {
    private(set) var path: String
    var items: [Item]

    struct Item: Hashable, Sendable {
        var name: String
        var value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// `path` is one of the program's own; its parts from elsewhere are names that need no encoding.
    init(_ path: String, _ items: [Item] = []) {
        self.path = path
        self.items = items
    }

    func adding(_ name: String, _ value: String?) -> PageURL {
        guard let value else { return self }
        var url = self
        url.items.append(Item(name, value))
        return url
    }

    /// Sets the value of an item, in place of all items with its name.
    func setting(_ name: String, _ value: String?) -> PageURL {
        var url = self
        url.items.removeAll { $0.name == name }
        return url.adding(name, value)
    }

    var text: String {
        guard !self.items.isEmpty else { return self.path }
        return self.path + "?"
            + self.items.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&")
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
    }
}

/// The items of a query, or of a form that was sent.
///
/// Reads the encoding of HTML's forms. Bytes that are no UTF-8 are left out with their item.
struct FormItems: Hashable, Sendable {
    /// Maximum number of items of a URL or a form; the rest is left out.
    private static let itemsMax = 200

    private let items: [PageURL.Item]

    init(_ encoded: some StringProtocol) {
        self.items = encoded.split(separator: "&").prefix(Self.itemsMax).compactMap { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = pair.first.flatMap({ Self.decoded($0) }),
                let value = Self.decoded(pair.count > 1 ? pair[1] : "")
            else { return nil }
            return PageURL.Item(name, value)
        }
    }

    /// The first value of a name; `nil` if there is none, or if it is empty.
    subscript(_ name: String) -> String? {
        self.items.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// All values of a name, empty ones included.
    func all(_ name: String) -> [String] { self.items.filter { $0.name == name }.map(\.value) }

    private static func decoded(_ text: some StringProtocol) -> String? {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }
}
