import NIOHTTP1
import RecordJSON
import RecordModel
import RecordServer
import WireProtocol

/// An error in Apple's form, of a request or of an item.
struct WebFailure: Error, Hashable, Sendable {
    /// `serverErrorCode`.
    enum Code: String, Hashable, Sendable {
        case accessDenied = "ACCESS_DENIED"
        case atomicError = "ATOMIC_ERROR"
        case authenticationFailed = "AUTHENTICATION_FAILED"
        case authenticationRequired = "AUTHENTICATION_REQUIRED"
        case badRequest = "BAD_REQUEST"
        case conflict = "CONFLICT"
        case exists = "EXISTS"
        case internalError = "INTERNAL_ERROR"
        case notFound = "NOT_FOUND"
        case quotaExceeded = "QUOTA_EXCEEDED"
        case throttled = "THROTTLED"
        case tryAgainLater = "TRY_AGAIN_LATER"
        case validatingReferenceError = "VALIDATING_REFERENCE_ERROR"
        case zoneNotFound = "ZONE_NOT_FOUND"

        var status: HTTPResponseStatus {
            switch self {
            case .atomicError, .badRequest: .badRequest
            case .authenticationFailed: .unauthorized
            case .accessDenied: .forbidden
            case .notFound, .zoneNotFound: .notFound
            case .conflict, .exists: .conflict
            case .validatingReferenceError: .preconditionFailed
            case .quotaExceeded: .payloadTooLarge
            case .authenticationRequired: .misdirectedRequest
            case .throttled: .tooManyRequests
            case .internalError: .internalServerError
            case .tryAgainLater: .serviceUnavailable
            }
        }
    }

    let code: Code
    /// For people.
    let reason: String
    let status: HTTPResponseStatus
    var retryAfterSeconds: Int?
    /// The number of the error in CloudKit, where Apple's codes say too little.
    var errorNumber: UInt32?
    /// Of an item: the server's record in a conflict.
    var serverRecord: Record?
    /// The field `Allow` of a response to a wrong method.
    var allowed: String?

    init(_ code: Code, _ reason: String, status: HTTPResponseStatus? = nil, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.reason = reason
        self.status = status ?? code.status
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// A wrong method.
    init(allowing methods: String) {
        self.init(.badRequest, "the endpoint takes \(methods)", status: .methodNotAllowed)
        self.allowed = methods
    }

    init(_ error: WebInputError) { self.init(.badRequest, error.description) }

    init(_ failure: Failure) {
        self.init(Code(failure.code), failure.message)
        if case .after(let milliseconds) = failure.retry {
            self.retryAfterSeconds = (Int(milliseconds) + 999) / 1_000
        }
        if failure.code == .changeTokenExpired { self.errorNumber = failure.code.rawValue }
        self.serverRecord = failure.serverRecord
    }

    /// The sender of a request is not let in.
    init(_ refusal: DoorRefusal) {
        switch refusal {
        case .notAuthenticated:
            self.init(
                .authenticationFailed,
                "the credential is wrong, has ended, or belongs to another container"
            )
        case .containerUnknown: self.init(.accessDenied, "there is no such container")
        case .unavailable:
            self.init(.tryAgainLater, "the server cannot look up credentials now", retryAfterSeconds: 1)
        case .internalError: self.init(.internalError, "internal error of the server")
        }
    }

    /// The members that all errors have.
    private func write(to output: inout JSONOutput) {
        output.member("reason", self.reason)
        output.member("serverErrorCode", self.code.rawValue)
        if let seconds = self.retryAfterSeconds { output.member("retryAfter", literal: "\(seconds)") }
        if let number = self.errorNumber { output.member("ckErrorNumber", literal: "\(number)") }
    }

    /// The body of a response to a request that fails as a whole.
    func body(uuid: String) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            output.member("uuid", uuid)
            self.write(to: &output)
        }
        return output.text
    }

    /// An item that fails: `name` writes what it is about.
    func item(_ form: WebForm, _ name: (inout JSONOutput) -> Void) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            name(&output)
            self.write(to: &output)
            if let record = self.serverRecord {
                output.name("serverRecord")
                output.webRecord(record, form)
            }
        }
        return output.text
    }
}

extension WebFailure.Code {
    /// The code for a number of the protocol.
    init(_ code: ErrorCode) {
        switch code {
        case .permissionFailure, .participantMayNeedVerification, .badContainer, .managedAccountRestricted:
            self = .accessDenied
        case .batchRequestFailed: self = .atomicError
        case .notAuthenticated: self = .authenticationRequired
        case .serverRecordChanged: self = .conflict
        case .alreadyShared: self = .exists
        case .internalError: self = .internalError
        case .unknownItem, .assetNotAvailable: self = .notFound
        case .quotaExceeded: self = .quotaExceeded
        case .requestRateLimited: self = .throttled
        case .serviceUnavailable, .operationCancelled, .zoneBusy, .deadlineExceeded: self = .tryAgainLater
        case .referenceViolation: self = .validatingReferenceError
        case .zoneNotFound: self = .zoneNotFound
        default: self = .badRequest
        }
    }
}
