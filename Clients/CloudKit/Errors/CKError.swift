public import Foundation

/// The error of a request, or of one of its items.
///
/// ```swift
/// do {
///     try await database.save(note)
/// } catch let error as CKError {
///     switch error.retryAdvice {
///     case .now: try await database.save(note)
///     case .after(let seconds): print("try again in", seconds)
///     case .afterChange, .never: throw error
///     }
/// }
/// ```
///
/// Beyond Apple's API: `retryAdvice` says what to do, and `batchCause` which item is at fault.
///
/// - Source: Apple's `CKError`.
public struct CKError: _BridgedStoredNSError {
    /// The error as Foundation knows it.
    public let _nsError: NSError

    /// Takes an error of the domain `CKErrorDomain`.
    ///
    /// - Parameter error: An error of the domain `CKErrorDomain`; `code` is `internalError` for a
    ///   number that this version does not know.
    public init(_nsError error: NSError) {
        self._nsError = StoredError.holding(error)
    }

    /// Makes an error with a code.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - userInfo: Values under the keys of this module and of Foundation, as
    ///     `CKErrorRetryAfterKey`.
    public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
        self._nsError = StoredError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The domain of every error of this type.
    public static var _nsErrorDomain: String { CKErrorDomain }

    /// The domain of every error of this type.
    public static var errorDomain: String { CKErrorDomain }

    /// The code; `internalError` for a number that this version does not know.
    public var code: CKError.Code { Code(rawValue: self._nsError.code) ?? .internalError }

    /// The number of the code.
    public var errorCode: Int { self._nsError.code }

    /// The user info, under the keys of this module and of Foundation.
    public var errorUserInfo: [String: Any] { self._nsError.userInfo }

    /// The user info, under the keys of this module and of Foundation.
    public var userInfo: [String: Any] { self._nsError.userInfo }

    /// A text for people.
    public var localizedDescription: String { self._nsError.localizedDescription }
}

extension CKError {
    /// The errors of the items that failed, by ID; `nil` unless this is a partial failure.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        self.userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    /// With `serverRecordChanged`: the common ancestor, the record as the client had it before its
    /// changes.
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

    /// The seconds to wait before a retry; `nil` if the server named no time.
    public var retryAfterSeconds: Double? {
        (self.userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue
    }
}
