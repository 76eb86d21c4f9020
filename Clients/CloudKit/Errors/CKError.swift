public import Foundation

/// Why a request, or an item of one, failed.
///
/// Beyond Apple's surface: `retryAdvice` says what to do, `batchCause` who is at fault.
public struct CKError: _BridgedStoredNSError {
    /// The error as Foundation knows it.
    public let _nsError: NSError

    /// Takes an error of the domain `CKErrorDomain`.
    public init(_nsError error: NSError) {
        self._nsError = StoredError.holding(error)
    }

    /// Makes an error of a code, with what it carries by the keys of this module and Foundation's.
    public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
        self._nsError = StoredError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The domain of every error of this type.
    public static var _nsErrorDomain: String { CKErrorDomain }

    /// The domain of every error of this type.
    public static var errorDomain: String { CKErrorDomain }

    /// What went wrong; `internalError` for a number that this version does not know.
    public var code: CKError.Code { Code(rawValue: self._nsError.code) ?? .internalError }

    /// The number of what went wrong.
    public var errorCode: Int { self._nsError.code }

    /// What the error carries, by the keys of this module and Foundation's.
    public var errorUserInfo: [String: Any] { self._nsError.userInfo }

    /// What the error carries, by the keys of this module and Foundation's.
    public var userInfo: [String: Any] { self._nsError.userInfo }

    /// A text for people.
    public var localizedDescription: String { self._nsError.localizedDescription }
}

extension CKError {
    /// The errors of the items that failed, by their IDs; `nil` unless this is a partial failure.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        self.userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    /// With `serverRecordChanged`: the record as the client had it before it changed it.
    public var ancestorRecord: CKRecord? {
        self.userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
    }

    /// With `serverRecordChanged`: the record as the server has it.
    public var serverRecord: CKRecord? {
        self.userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
    }

    /// With `serverRecordChanged`: the record that the client tried to save.
    public var clientRecord: CKRecord? {
        self.userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
    }

    /// The seconds to wait before the request is sent again; `nil` when the server named none.
    public var retryAfterSeconds: Double? {
        (self.userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue
    }
}
