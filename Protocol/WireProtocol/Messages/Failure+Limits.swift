import RecordModel

// Requests beyond a limit: a client that knows the limit produces the same failure as the server.
extension Failure {
    /// CloudKit's text.
    package static func tooManyItems(_ count: Int, itemsMax: Int) -> Failure {
        Failure(
            code: .limitExceeded,
            message: "Your request contains \(count) items which is more than the maximum number of items "
                + "in a single request (\(itemsMax))",
            retry: .afterChange
        )
    }

    package static func requestTooLarge(bytes: Int, bytesMax: Int) -> Failure {
        Failure(
            code: .limitExceeded,
            message: "Your request is \(bytes) bytes which is more than the maximum number of bytes "
                + "in a single request (\(bytesMax))",
            retry: .afterChange
        )
    }

    /// A record exceeds the size limit: a smaller batch does not help.
    package static func recordTooLarge(_ recordName: String, bytes: Int, bytesMax: Int) -> Failure {
        Failure(
            code: .limitExceeded,
            message:
                "record too large: the fields of '\(recordName)' take \(bytes) bytes, and \(bytesMax) are "
                + "the most: move large values to assets",
            retry: .afterChange
        )
    }
    /// `index` is the asset's number in the request.
    package static func assetTooLarge(index: Int, bytes: Int64) -> Failure {
        Failure(
            code: .limitExceeded,
            message: "the asset is too large: it takes \(bytes) bytes",
            cause: .dependsOn(index: UInt32(clamping: index)),
            retry: .afterChange
        )
    }
}
