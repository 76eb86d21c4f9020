import RecordModel
import WireProtocol

extension CloseReason {
    /// The text of the `goaway` and of the log.
    var text: String {
        Self.texts[self] ?? "closed"
    }

    private static let texts: [CloseReason: String] = [
        .drain: "the server is shutting down",
        .versionUnsupported: "none of the protocol versions offered is spoken here",
        .notAuthenticated:
            "the token, or the service's key, is wrong or was revoked: the operator can give out a new one",
        .containerUnknown: "there is no such container",
        .overloaded: "the server has no room, connect again later",
        .idle: "nothing was heard for too long",
        .slowReader: "responses were not taken for too long",
        .handshakeTimeout: "the handshake took too long",
        .internalError: "internal error of the server, whose log has the reason",
        .credentialExpired: "the token has expired, or another has taken its place: connect with a new one",
        .frameTimeout: "a frame had begun, and did not come whole in time",
        .accountChanged: "the account was restricted, or the restriction was lifted: connect again",
        .frameTooLarge: "a frame is larger than the limit",
        .frameKindUnexpected: "a frame of a kind that does not belong here",
        .messageMalformed: "a payload is not the message that it should be",
        .requestBeforeHello: "the first frame must be a hello, and nothing may follow it before the welcome",
        .secondHello: "a second hello",
        .streamInvalid: "a stream number that is even, used before, or never opened",
        .tooManyInFlight: "more than twice the permitted requests in flight",
        .creditExceeded: "a request was sent without credit",
        .creditInvalid: "a credit of 0, or a window beyond its bound",
        .tooManyControlFrames: "too many control frames in a second",
    ]
}
