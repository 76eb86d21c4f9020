/// The address of a server in a message.
package enum ShownAddress {
    /// The address without what may be a password or a token, however wrongly it is written: without all up
    /// to the last `@`, and without what is behind the first `?`.
    package static func text(_ address: String) -> String {
        let secretEnd = address.lastIndex(of: "@")
        let scheme = address.prefix { $0 != ":" && $0 != "@" }
        let shown = secretEnd.map { "\(scheme)://***\(address[$0...])" } ?? address
        guard let query = shown.firstIndex(of: "?") else { return shown }
        return "\(shown[..<query])?***"
    }
}
