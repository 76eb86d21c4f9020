// What published code writes about errors, in the shape of Apple's documented calls.
import CloudKit
import Foundation

enum ErrorIdioms {
    static func caught(_ error: any Error) -> String {
        do {
            throw error
        } catch CKError.zoneNotFound {
            return "zone"
        } catch let error as CKError where error.code == .partialFailure {
            let errors = error.partialErrorsByItemID ?? [:]
            return "partial \(errors.count)"
        } catch let error as CKError {
            return self.named(error)
        } catch {
            return "other"
        }
    }

    static func named(_ error: CKError) -> String {
        switch error.code {
        case .networkFailure, .networkUnavailable: return "network"
        case .serviceUnavailable, .requestRateLimited, .zoneBusy:
            return
                "again after \(error.retryAfterSeconds ?? error.userInfo[CKErrorRetryAfterKey] as? Double ?? 0)"
        case .serverRecordChanged:
            return "conflict \(error.serverRecord?.recordID.recordName ?? "?")"
        case .unknownItem: return "missing"
        default: return "\(error.errorCode)"
        }
    }

    static func bridged(_ error: any Error) -> [String] {
        var found: [String] = []
        let nsError = error as NSError
        if nsError.domain == CKErrorDomain, nsError.code == CKError.Code.changeTokenExpired.rawValue {
            found.append("raw")
        }
        if let ckError = nsError as? CKError, ckError.code == CKError.changeTokenExpired {
            found.append("cast")
        }
        if case CKError.changeTokenExpired = error { found.append("pattern") }
        if let code = (error as? CKError)?.code, case .changeTokenExpired = code { found.append("code") }
        if let code = CKError.Code(rawValue: nsError.code), code == .changeTokenExpired {
            found.append("number")
        }
        return found
    }

    static func partial(_ error: CKError, _ recordID: CKRecord.ID) -> [String] {
        var found: [String] = []
        if (error.partialErrorsByItemID?[recordID] as? CKError)?.code == .serverRecordChanged {
            found.append("accessor")
        }
        if let errors = error.userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error],
            errors[recordID] is CKError
        {
            found.append("user info")
        }
        if let errors = error.userInfo[CKPartialErrorsByItemIDKey] as? [CKRecord.ID: any Error],
            errors[recordID] != nil
        {
            found.append("record IDs")
        }
        if let errors = error.userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: NSError],
            errors[recordID]?.code == CKError.serverRecordChanged.rawValue
        {
            found.append("NSError")
        }
        if let errors = error.userInfo[CKPartialErrorsByItemIDKey] as? NSDictionary, errors[recordID] != nil {
            found.append("NSDictionary")
        }
        return found
    }

    static func made() -> [CKError] {
        [
            CKError(.networkFailure), CKError(CKError.Code.unknownItem),
            CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: 3]),
            CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: NSNumber(value: 2.5)]),
            CKError(_nsError: NSError(domain: CKErrorDomain, code: CKError.Code.zoneBusy.rawValue)),
        ]
    }
}
