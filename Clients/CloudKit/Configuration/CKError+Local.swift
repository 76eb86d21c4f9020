internal import Foundation

extension CKError {
    /// Makes an error that the client finds without asking the server.
    static func local(_ code: CKError.Code, _ text: String) -> CKError {
        CKError(code, userInfo: self.userInfo(code: code, message: text))
    }

    static var cancelled: CKError { .local(.operationCancelled, "The operation was cancelled") }

    static var nobodySignedIn: CKError {
        .local(
            .notAuthenticated,
            "Nobody is signed in: set \(CKServerConnection.Variable.token) to a user's access token"
        )
    }

    /// Makes the error for an environment without a part of the code's schema.
    static func schemaLacks(_ missing: [String]) -> CKError {
        .local(
            .incompatibleVersion,
            "The server's schema lacks \(missing.count) parts of this code's schema; import or deploy them: "
                + missing.joined(separator: "; ")
        )
    }

    /// Makes the error of an item that failed only because of another item in its atomic zone.
    static func atomicFailure(culprit: CKRecord.ID) -> CKError {
        var userInfo = self.userInfo(code: .batchRequestFailed, message: "Atomic failure")
        userInfo[self.batchCauseKey] = CKBatchCause.atomicPeer(culprit)
        return CKError(.batchRequestFailed, userInfo: userInfo)
    }

    /// The error for a response of another kind than the request.
    static var resultOfAnotherKind: CKError {
        .local(.internalError, "The server's result is not one for the item")
    }
}
