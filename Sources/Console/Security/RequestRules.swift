/// The origin of a request, by its fields.
struct RequestOrigin: Hashable, Sendable {
    var isGet: Bool
    /// The field `Host`.
    var host: String?
    /// The field `Origin`.
    var origin: String?
    /// The field `Sec-Fetch-Site`, which no page of another site can set.
    var fetchSite: String?
}

/// Decides by its fields whether a request may come from a page of the console.
///
/// A loopback address is no boundary. Any page in the same browser can send requests to it, and a
/// name with a changing address (DNS rebinding) lets that page read the responses. The rules hold
/// before there is a session, so a request that breaks them costs nothing.
struct RequestRules: Hashable, Sendable {
    enum Refusal: Hashable, Sendable {
        /// 421: `Host` names something else.
        case otherHost
        /// 403: a change that no page of ours asks for.
        case otherOrigin
    }

    let host: ConsoleHost
    /// The port that `Host` has to have; `nil` behind a Unix socket, where a tunnel chooses it.
    let port: Int?

    /// `nil` if the request may go on.
    func refusal(of request: RequestOrigin) -> Refusal? {
        guard let host = request.host, self.host.isNamed(by: host, port: self.port) else { return .otherHost }
        if request.isGet { return nil }
        guard request.origin == "http://\(host)", request.fetchSite == "same-origin" else {
            return .otherOrigin
        }
        return nil
    }
}
