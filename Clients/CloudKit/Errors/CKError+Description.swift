import Foundation

extension CKError: CustomStringConvertible {
    /// A description of the error for people, in the form of Apple's logs.
    ///
    ///     <CKError 0x…: "Server Record Changed" (14/2004); server message = "client oplock error">
    public var description: String {
        let number = UInt(bitPattern: ObjectIdentifier(self._nsError))
        var text = "<CKError 0x\(String(number, radix: 16)): \"\(self.code.title)\" (\(self.errorCode)"
        if let underlying = self.userInfo[NSUnderlyingErrorKey] as? NSError { text += "/\(underlying.code)" }
        text += ")"
        if let message = self.userInfo[NSLocalizedDescriptionKey] as? String {
            text += "; server message = \"\(message)\""
        }
        if let seconds = self.retryAfterSeconds { text += "; retry after = \(seconds)" }
        if let errors = self.partialErrorsByItemID {
            text += "; partial errors = {\(errors.count) items, first: "
            text += "\(errors.first.map { "\($0.key): \($0.value)" } ?? "none")}"
        }
        return text + ">"
    }
}

extension CKError {
    /// The domain of the errors under a `CKError`, which are more exact than its code.
    static let internalErrorDomain = "CKInternalErrorDomain"

    /// Apple's keys that no header declares, with the texts of an error for logs.
    private static let descriptionKey = "CKErrorDescription"
    private static let debugDescriptionKey = "NSDebugDescription"
    private static let shouldThrottleKey = "CKErrorShouldThrottleClient"

    /// Makes the user info of an error with a code and a text; `serverCode` counts where it is more
    /// exact than the code.
    ///
    /// - Source: Apple, TN3162, the example of a throttle.
    static func userInfo(code: Code, message: String, serverCode: UInt32? = nil) -> [String: Any] {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: message, self.descriptionKey: message]
        let serverCode = serverCode.flatMap { Int(exactly: $0) }.flatMap { $0 == code.rawValue ? nil : $0 }
        if let internalCode = serverCode ?? code.internalCode {
            userInfo[self.debugDescriptionKey] = "\(self.internalErrorDomain): \(internalCode)"
            userInfo[NSUnderlyingErrorKey] = StoredError(
                domain: self.internalErrorDomain,
                code: internalCode,
                userInfo: [NSLocalizedDescriptionKey: message]
            )
        }
        return userInfo
    }

    /// Adds the time to come back; a server that is too busy for the client asks it to slow down.
    static func noteRetry(after seconds: Double, _ code: Code, in userInfo: inout [String: Any]) {
        userInfo[CKErrorRetryAfterKey] = NSNumber(value: seconds)
        guard code == .serviceUnavailable || code == .requestRateLimited else { return }
        userInfo[self.shouldThrottleKey] = NSNumber(value: 1)
    }
}

extension CKError.Code {
    /// The code as Apple's logs spell it: "Server Record Changed".
    var title: String {
        "\(self)".reduce(into: "") { title, letter in
            if title.isEmpty {
                title = letter.uppercased()
            } else {
                if letter.isUppercase { title += " " }
                title.append(letter)
            }
        }
    }

    /// The number in `CKInternalErrorDomain` that published logs show with the code.
    var internalCode: Int? {
        switch self {
        case .partialFailure: 1011
        case .limitExceeded: 1020
        case .unknownItem: 2003
        case .serverRecordChanged: 2004
        case .invalidArguments: 2006
        case .permissionFailure: 2007
        case .serviceUnavailable: 2022
        case .batchRequestFailed: 2024
        case .changeTokenExpired: 2026
        case .zoneNotFound: 2036
        case .requestRateLimited: 2061
        default: nil
        }
    }
}
