import Foundation
import RecordModel
import WireProtocol

/// The URLs of shares: `tidemark://HOST:PORT/share/TOKEN`, without the port when it is 7430.
enum ShareURL {
    /// Returns the address of a server in the form for URLs.
    static func address(host: String, port: Int) -> String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == ProtocolVersion.defaultPort ? "tidemark://\(host)" : "tidemark://\(host):\(port)"
    }

    static func url(address: String, token: String) -> URL? {
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/;"))
        guard !token.isEmpty, let path = token.addingPercentEncoding(withAllowedCharacters: allowed) else {
            return nil
        }
        return URL(string: "\(address)/share/\(path)")
    }

    /// Returns the token of a URL.
    ///
    /// The server in the URL is not compared: one server may have several names.
    ///
    /// - Throws: `invalidArguments` if the URL is not one of a share.
    static func token(of url: URL) throws(CKError) -> String {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            parts.scheme?.lowercased() == "tidemark", parts.host?.isEmpty == false,
            parts.query == nil, parts.fragment == nil, parts.path.hasPrefix("/share/")
        else { throw Self.noShare(url) }
        let token = String(parts.path.dropFirst("/share/".count))
        guard (1...Bounds.shareTokenBytesMax).contains(token.utf8.count), !token.contains("/") else {
            throw Self.noShare(url)
        }
        return token
    }

    private static func noShare(_ url: URL) -> CKError {
        .local(
            .invalidArguments,
            "\"\(url.absoluteString)\" is no URL of a share: that is tidemark://HOST:PORT/share/TOKEN"
        )
    }
}
