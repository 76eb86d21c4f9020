import Foundation

/// A token of the store for a command line or a URL, in URL-safe base64.
///
/// Unlike a client's, it has no seal: the store trusts no token.
package enum TokenText {
    /// Maximum length: a cursor contains values of the query's fields.
    private static let textBytesMax = 64 * 1_024

    package static func text(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    package static func bytes(_ text: String) -> [UInt8]? {
        guard !text.isEmpty, text.utf8.count <= Self.textBytesMax else { return nil }
        let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let plain = padded.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: plain).map { Array($0) }
    }
}
