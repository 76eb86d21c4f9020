// Published code often imports CloudKit alone and uses `Date`, `UUID`, `NSPredicate` and `CLLocation`.
@_exported public import CoreLocation
@_exported public import Foundation
