internal import RecordModel
internal import WireProtocol

/// A request for people to invite.
struct ParticipantFetch: BatchRequest {
    typealias ItemID = CKUserIdentity.LookupInfo
    typealias Value = CKShare.Participant

    static let partialFailureText = "Failed to fetch some share participants"

    private let items: ShareItems<CKUserIdentity.LookupInfo, IdentityLookup>

    init(_ infos: [CKUserIdentity.LookupInfo]) {
        self.items = ShareItems(infos) { info throws(CKError) in
            guard info.model.isInBounds else {
                throw .local(
                    .invalidArguments,
                    "An address or ID to look up has 1 to \(Bounds.nameBytesMax) bytes"
                )
            }
            return info.model
        }
    }

    var itemCount: Int? { self.items.ids.count }
    var roles: RequestRoles<Self> { RequestRoles(refused: self.items.refusals()) }

    /// The current user is looked up by name.
    func operation(user: String) throws(CKError) -> RequestModel {
        let lookups = self.items.questions.map { lookup in
            lookup == .userRecordName(CKCurrentUserDefaultName) && !user.isEmpty
                ? .userRecordName(user) : lookup
        }
        return .fetchShareParticipants(FetchShareParticipants(lookups: lookups))
    }

    func result(of item: Item, user: String) -> ItemResult? {
        guard let info = self.items.id(of: item) else { return nil }
        guard case .participant(let participant) = item.outcome else {
            return .value(info, .failure(item.outcome.error(user: user)))
        }
        return .value(info, .success(CKShare.Participant(participant)))
    }
}
