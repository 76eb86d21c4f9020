package import RecordModel
package import StorageContract

/// The rights of a participant who has joined a share to the records that it covers.
package struct ShareGrant: Hashable, Sendable {
    package var share: StoredShare
    package var permission: SharePermission
    package var role: ShareRole

    package init(share: StoredShare, permission: SharePermission, role: ShareRole) {
        self.share = share
        self.permission = permission
        self.role = role
    }

    var mayWrite: Bool { self.permission == .readWrite }
    var mayManage: Bool { self.role == .administrator }
}

/// The rights of one user in one zone of another: the shares that they have joined.
///
/// The one check that everything passes which returns, counts or changes records of a shared database.
package struct SharedAccess: Hashable, Sendable {
    /// The grant if the zone as a whole is shared with the user.
    package private(set) var zoneWide: ShareGrant?
    private var grants: [ShareNumber: ShareGrant] = [:]

    /// Maximum number of shares in a zone that are all read to find those that a user has joined.
    static let sharesReadMax = 16

    /// Grants without the right to read are ignored.
    package init(_ grants: [ShareGrant]) {
        for grant in grants where grant.permission.mayRead {
            self.grants[grant.share.number] = grant
            if grant.share.root == nil { self.zoneWide = grant }
        }
    }

    package var isEmpty: Bool { self.grants.isEmpty }

    /// The user's rights to a record of a share.
    ///
    /// `nil` if the record is not there for the user.
    package func grant(coveredBy share: ShareNumber?) -> ShareGrant? {
        self.zoneWide ?? share.flatMap { self.grants[$0] }
    }

    /// The shares that the user has joined.
    package var shares: some Collection<ShareGrant> { self.grants.values }
}

extension SharePermission {
    var mayRead: Bool { self == .readOnly || self == .readWrite }
}
