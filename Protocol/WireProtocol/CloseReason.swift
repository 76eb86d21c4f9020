/// Why a side closes a connection or drains it.
package struct CloseReason: RawRepresentable, Hashable, Error {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Orderly: the server is shutting down.
    ///
    /// Open streams are answered; open no more.
    package static let drain = CloseReason(rawValue: 1)
    package static let versionUnsupported = CloseReason(rawValue: 2)
    /// The token or the signature is wrong, or the credential was revoked.
    package static let notAuthenticated = CloseReason(rawValue: 3)
    package static let containerUnknown = CloseReason(rawValue: 4)
    /// There is no room for another connection, or too little memory.
    package static let overloaded = CloseReason(rawValue: 5)
    package static let idle = CloseReason(rawValue: 6)
    /// The peer does not read the data that it requested.
    package static let slowReader = CloseReason(rawValue: 7)
    package static let handshakeTimeout = CloseReason(rawValue: 8)
    package static let internalError = CloseReason(rawValue: 9)
    /// The token has expired: connect with a new one.
    package static let credentialExpired = CloseReason(rawValue: 10)
    package static let frameTimeout = CloseReason(rawValue: 11)
    /// The operator has restricted the user's account, or lifted that: connect again.
    package static let accountChanged = CloseReason(rawValue: 12)
    // Violations by the peer, from 100.
    package static let frameTooLarge = CloseReason(rawValue: 100)
    package static let frameKindUnexpected = CloseReason(rawValue: 101)
    package static let messageMalformed = CloseReason(rawValue: 102)
    package static let requestBeforeHello = CloseReason(rawValue: 103)
    package static let secondHello = CloseReason(rawValue: 104)
    package static let streamInvalid = CloseReason(rawValue: 105)
    package static let tooManyInFlight = CloseReason(rawValue: 106)
    package static let creditExceeded = CloseReason(rawValue: 107)
    package static let creditInvalid = CloseReason(rawValue: 108)
    package static let tooManyControlFrames = CloseReason(rawValue: 109)
}
