import Foundation

/// A token of the store on a command line or in a URL, in base64 that neither changes.
///
/// It has no seal, as a client's has: the store trusts no token.
package enum TokenText {
    /// Of a text: a cursor has values of the query's fields in it.
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
