import NIOCore
import WireProtocol

/// The token that a provider gave last.
struct ProvidedToken {
    /// `nil` if the provider is to be asked.
    var text: String?
    /// Whether the server has accepted it.
    ///
    /// If it is refused later, it has only expired.
    var isAccepted = false
}

/// The credential that opens a connection.
extension ClientSession {
    var hello: Hello {
        var hello = Hello(
            container: self.configuration.container,
            environment: self.configuration.environment,
            accessToken: "",
            installationID: self.configuration.installationID,
            client: "tidemark-swift/1",
            windows: self.configuration.windows
        )
        switch self.configuration.credential {
        case .nobody: break
        case .token(let token): hello.setToken(token)
        case .provided: hello.setToken(self.token.text ?? "")
        case .serviceKey(let key, let onBehalfOf):
            hello.serviceKey = ServiceKeyName(keyID: key.keyID, onBehalfOf: onBehalfOf ?? "")
        }
        return hello
    }

    var serviceKey: SigningKey? {
        guard case .serviceKey(let key, _) = self.configuration.credential else { return nil }
        return key
    }

    /// Asks for a token, and connects with it.
    func askForToken(_ provider: ClientCredential.TokenProvider) {
        self.lastConnection += 1
        let number = self.lastConnection
        let limit = self.configuration.connectTimeout
        let timeout = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
            self.tokenArrived(.failure(.init("no answer within \(limit)")), number)
        }
        self.link = .asking(number, timeout: timeout)
        let session = NIOLoopBound(self, eventLoop: self.eventLoop)
        provider { result in
            session.eventLoop.execute { session.value.tokenArrived(result, number) }
        }
    }

    private func tokenArrived(_ result: Result<String, ClientCredential.TokenFailure>, _ number: Int) {
        guard case .asking(number, let timeout) = self.link else { return }
        timeout.cancel()
        self.link = .idle
        self.attending {
            switch result {
            case .success(let token):
                if let fault = ClientCredential.fault(ofToken: token) {
                    return self.tokenFailed(.misconfigured("the token provider's token can't work: \(fault)"))
                }
                self.token = ProvidedToken(text: token)
                self.makeConnection()
            case .failure(let failure):
                self.tokenFailed(.broken("the token provider failed: \(failure.description)"))
            }
        }
        self.flush()
    }

    /// Ends the waiting requests; a listener tries again after a pause.
    private func tokenFailed(_ cause: ConnectionEnd) {
        let now = self.eventLoop.now
        self.lastFailure = cause
        self.reconnect.ended(hadAnswered: false, retryAfter: .zero, now: now, using: &self.random)
        self.listeningInterrupted(cause, wasOpen: false, now: now)
        self.endAll(self.terminalError(of: cause) ?? .unreachable(description: cause.description))
        self.advance(now: now)
    }

    /// The error that ends all requests with a connection, or `nil` if they are sent again on the
    /// next one.
    ///
    /// If the server accepted the token before, the token has expired, and the provider is asked
    /// again.
    func terminalError(of cause: ConnectionEnd) -> ClientError? {
        if case .provided = self.configuration.credential, cause.isRefusedToken, self.token.isAccepted {
            return nil
        }
        if case .goneAway(let goAway) = cause, goAway.reason == .containerUnknown {
            return .rejected(reason: .containerUnknown, message: self.containerUnknown)
        }
        return cause.terminalError(server: self.server)
    }

    /// The server does not say which container it does not have, nor what to do.
    private var containerUnknown: String {
        let container = self.configuration.container
        return
            "There is no container \(container) at \(self.server) (asked for its \(self.configuration.environment) "
            + "environment): make it with 'tidemark container create \(container)', or correct the name or the address"
    }
}

extension Hello {
    fileprivate mutating func setToken(_ token: String) {
        if Self.isOfProvider(token) { self.identityToken = token } else { self.accessToken = token }
    }

    /// A token with two dots is an identity provider's: the server's own have none.
    static func isOfProvider(_ token: String) -> Bool {
        token.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2
    }
}
