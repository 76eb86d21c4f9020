internal import Foundation

extension CKError {
    /// An error that the client finds without asking the server.
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

    /// The environment was not prepared for this code.
    static func schemaLacks(_ missing: [String]) -> CKError {
        .local(
            .incompatibleVersion,
            "The server's schema lacks \(missing.count) of what this code was built for; import or deploy it: "
                + missing.joined(separator: "; ")
        )
    }

    /// Nothing is wrong with the item, but with another one of its atomic zone.
    static func atomicFailure(culprit: CKRecord.ID) -> CKError {
        var userInfo = self.userInfo(code: .batchRequestFailed, message: "Atomic failure")
        userInfo[self.batchCauseKey] = BatchCause.atomicPeer(culprit)
        return CKError(.batchRequestFailed, userInfo: userInfo)
    }

    /// The server answered an item with something that is no answer to what was asked.
    static var answerOfAnotherKind: CKError {
        .local(.internalError, "The server's answer does not belong to the item")
    }
}
