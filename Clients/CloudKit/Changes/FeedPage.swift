internal import Foundation
internal import WireProtocol

/// A page of a feed.
protocol FeedPage: BatchRequest {
    /// Empty: the feed's beginning.
    var token: [UInt8] { get }

    /// The page that begins where another ended.
    func following(_ token: CKServerChangeToken) -> Self
}

extension FeedPage {
    // No item of a feed fails.
    static var partialFailureText: String { "Failed to fetch some changes" }

    /// Only the answer says how many changes there are.
    var itemCount: Int { 0 }
    var needsServer: Bool { true }

    /// How many changes the user wants on a page, as the server is told; `nil`, 0 and below: as many as it gives.
    static func limit(_ resultsLimit: Int?) -> UInt32 { UInt32(clamping: resultsLimit ?? 0) }
}

/// What a page of a feed had, and where the next one begins.
struct FeedPageContent<Page: FeedPage>: Sendable {
    var answers: [Page.Answer]
    var token: CKServerChangeToken
    var moreComing: Bool
    /// What an operation has kept with the zone; `nil` if none did.
    var clientTokenData: Data?

    /// - Throws: `internalError` when the server's last word breaks the rules of a feed.
    init(_ answers: [Page.Answer], of page: Page, end: End) throws(CKError) {
        self.answers = answers
        self.token = try end.changeToken
        self.moreComing = end.moreComing
        self.clientTokenData = end.clientToken.isEmpty ? nil : Data(end.clientToken)
        // Whoever asks on until all is there would ask for ever.
        guard !self.moreComing || !answers.isEmpty || self.token.bytes != page.token else {
            throw .feedStandsStill
        }
    }
}

extension End {
    /// The token that a page of a feed ends with.
    var changeToken: CKServerChangeToken {
        get throws(CKError) {
            guard !self.token.isEmpty else { throw .answerOfAnotherKind }
            return CKServerChangeToken(bytes: self.token)
        }
    }
}

extension CKError {
    static var feedStandsStill: CKError {
        .local(.internalError, "The server promises more changes and does not move on")
    }
}
