/// The error that an operation ends with, as its two kinds of blocks are told of it.
///
/// The blocks that Apple has deprecated get a `partialFailure` that repeats the errors of single items. The newer ones never do: there the
/// errors of items are told item by item, and the request succeeded.
///
/// - Source: Apple, *shareAccessRequestResultBlock*: "The top-level error will never be `CKError.partialFailure`."
extension CKError? {
    /// What is wrong with the request as a whole; `nil` if it was answered, whatever became of its items.
    var requestError: CKError? { self?.code == .partialFailure ? nil : self }

    /// What a result block gets.
    var requestResult: Result<Void, any Error> { self.requestError.map { .failure($0) } ?? .success(()) }
}
