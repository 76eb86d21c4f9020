/// The address of a server in a message.
package enum ShownAddress {
    /// The address without a possible password or token, even if malformed: omits everything up to
    /// the last `@`, and everything after the first `?`.
    package static func text(_ address: String) -> String {
        let secretEnd = address.lastIndex(of: "@")
        let scheme = address.prefix { $0 != ":" && $0 != "@" }
        let shown = secretEnd.map { "\(scheme)://***\(address[$0...])" } ?? address
        guard let query = shown.firstIndex(of: "?") else { return shown }
        return "\(shown[..<query])?***"
    }
}
