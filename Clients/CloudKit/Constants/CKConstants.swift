/// The domain of every `CKError`.
public let CKErrorDomain: String = "CKErrorDomain"

/// The user info key of a partial failure's errors by item ID.
public let CKPartialErrorsByItemIDKey: String = "CKPartialErrors"

/// The user info key of the common ancestor: the record that the client had fetched before it
/// changed it.
public let CKRecordChangedErrorAncestorRecordKey: String = "AncestorRecord"

/// The user info key of the record that the server has.
public let CKRecordChangedErrorServerRecordKey: String = "ServerRecord"

/// The user info key of the record that a client tried to save.
public let CKRecordChangedErrorClientRecordKey: String = "ClientRecord"

/// The user info key of the number of seconds to wait before a request is sent again.
public let CKErrorRetryAfterKey: String = "CKRetryAfter"

/// The user info key that says whether the user reset the encrypted data of a zone.
public let CKErrorUserDidResetEncryptedDataKey: String = "CKUserDidResetEncryptedData"

/// The name of the current user, in place of a user's record name.
public let CKCurrentUserDefaultName: String = "__defaultOwner__"

/// The name of the current user as the owner of a zone.
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName: String = "__defaultOwner__"

/// The name of the zone that every database has.
public let CKRecordZoneDefaultName: String = "_defaultZone"

/// The record name of the share of a whole zone.
public let CKRecordNameZoneWideShare: String = "cloudkit.zoneshare"

/// The record type of user records.
public let CKRecordTypeUserRecord: String = "Users"

/// The record type of shares.
public let CKRecordTypeShare: String = "cloudkit.share"

/// The name of the parent reference in queries and desired keys.
public let CKRecordParentKey: String = "___parent"

/// The name of the share reference in queries and desired keys.
public let CKRecordShareKey: String = "___share"

/// The key of a share's title.
public let CKShareTitleKey: String = "cloudkit.title"

/// The key of the image of a share.
public let CKShareThumbnailImageDataKey: String = "cloudkit.thumbnailImageData"

/// The key of the type of the shared data.
public let CKShareTypeKey: String = "cloudkit.type"

/// The results limit that leaves the number to the server.
public let CKQueryOperationMaximumResults: Int = 0
