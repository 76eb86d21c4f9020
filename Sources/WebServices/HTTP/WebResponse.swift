import NIOHTTP1

/// A response before it is written.
struct WebResponse: Sendable {
    let status: HTTPResponseStatus
    let body: [UInt8]
    let headers: HTTPHeaders

    /// - Parameters:
    ///   - result: The body, or the error.
    ///   - uuid: The name of the request, which logs of clients have.
    init(_ result: Result<[UInt8], WebFailure>, uuid: String) {
        var headers = HTTPHeaders([
            ("Content-Type", "application/json; charset=UTF-8"), ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"), ("X-Apple-Request-UUID", uuid),
        ])
        switch result {
        case .success(let body):
            self.status = .ok
            self.body = body
        case .failure(let failure):
            self.status = failure.status
            self.body = failure.body(uuid: uuid)
            if let seconds = failure.retryAfterSeconds {
                headers.add(name: "Retry-After", value: "\(seconds)")
            }
            if let allowed = failure.allowed { headers.add(name: "Allow", value: allowed) }
            if failure.code == .authenticationFailed {
                headers.add(name: "WWW-Authenticate", value: "Bearer")
            }
        }
        headers.add(name: "Content-Length", value: "\(self.body.count)")
        self.headers = headers
    }
}
